/* A host in C: lists the sessions of a home with their verdicts. */
#include <rollcall/rollcall.h>
#include <stdio.h>

static int32_t show(void* context, const rollcall_session* session) {
  static const char* const kVerdicts[] = {"?", "live", "alive", "unreachable", "gone"};
  (void)context;
  printf("%s %s %s\n", session->session_id, kVerdicts[session->verdict < 5 ? session->verdict : 0],
         session->reason);
  return ROLLCALL_OK;
}

int main(int argc, char** argv) {
  rollcall_open_options options = {sizeof(options), ROLLCALL_OPEN_READ_ONLY, NULL, NULL};
  rollcall_error error = {sizeof(error), 0, 0, ""};
  rollcall_registry* registry = NULL;
  int32_t status;
  if (argc != 2) return 2;
  options.home = argv[1];
  status = rollcall_open(&options, &registry, &error);
  if (status == ROLLCALL_OK) status = rollcall_list(registry, 0, show, NULL, NULL, &error);
  if (status != ROLLCALL_OK) fprintf(stderr, "host_c: %s\n", error.message);
  rollcall_close(registry);
  return status == ROLLCALL_OK ? 0 : 1;
}
