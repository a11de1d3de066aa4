/* Compiled as strict C99 and linked with the shared library: every function is there for C. */
#include "rollcall/rollcall.h"

#include <stdio.h>
#include <string.h>

static int32_t ignore(void* context, const rollcall_session* session) {
  (void)context;
  (void)session;
  return ROLLCALL_OK;
}

int main(void) {
  rollcall_error error;
  rollcall_stop_result stopped;
  rollcall_new_session session;
  rollcall_registration* registration = NULL;
  rollcall_registry* registry = NULL;
  rollcall_canceller* canceller = rollcall_canceller_new();
  int failures = 0;

  memset(&error, 0, sizeof(error));
  error.struct_size = sizeof(error);
  memset(&stopped, 0, sizeof(stopped));
  memset(&session, 0, sizeof(session));
  failures += strlen(rollcall_version()) == 0;
  /* Without what is required each says so, and nothing is touched. */
  failures += rollcall_open(NULL, &registry, &error) != ROLLCALL_E_INVALID;
  failures += strlen(error.message) == 0;
  failures += registry != NULL;
  failures += rollcall_list(NULL, 0, ignore, NULL, NULL, &error) != ROLLCALL_E_INVALID;
  failures += rollcall_verify(NULL, "x", ignore, NULL, NULL, NULL) != ROLLCALL_E_INVALID;
  failures += rollcall_stop(NULL, "x", 0, &stopped, NULL, &error) != ROLLCALL_E_INVALID;
  failures += rollcall_register(NULL, &session, &registration, NULL, &error) != ROLLCALL_E_INVALID;
  failures += rollcall_registration_id(NULL) != NULL;
  failures += rollcall_registration_release(NULL, &error) != ROLLCALL_OK;
  rollcall_canceller_cancel(canceller);
  rollcall_canceller_free(canceller);
  rollcall_close(NULL);
  if (failures != 0) fprintf(stderr, "%d calls did not answer as documented\n", failures);
  return failures == 0 ? 0 : 1;
}
