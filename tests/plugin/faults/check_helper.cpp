// check_helper FILE [--accept-untrusted]: the child of check_in_child() in tests.
#include <cstdio>
#include <string>

#include "plugin/check.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  rollcall::CheckOptions options;
  options.accept_untrusted = argc > 2 && std::string(argv[2]) == "--accept-untrusted";
  options.progress = [](std::string_view rule) {
    std::fputs(rollcall::check_progress_line(rule).c_str(), stdout);
    std::fflush(stdout);
  };
  const rollcall::CheckReport report = rollcall::check_plugin(argv[1], options);
  std::printf("\n%s\n", to_json(report).c_str());
  return report.passed() ? 0 : 1;
}
