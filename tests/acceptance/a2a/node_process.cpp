#include "acceptance/a2a/node_process.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/paths.hpp"

namespace rollcall::test {
namespace {

namespace fs = std::filesystem;

fs::path source_folder() { return fs::path(test::kSourceDir) / "tests/acceptance/a2a"; }

fs::path rig_folder() {
  const char* given = std::getenv("ROLLCALL_A2A_RIG");
  if (given != nullptr && *given != '\0') return given;
  return fs::path(test::kSourceDir) / "build/tools/a2a";
}

int node_major() {
  FILE* pipe = ::popen("node --version 2>/dev/null", "r");
  if (pipe == nullptr) return 0;
  int major = 0;
  if (std::fscanf(pipe, "v%d", &major) != 1) major = 0;
  ::pclose(pipe);
  return major;
}

}  // namespace

std::optional<std::string> why_no_node() {
  static const int major = node_major();
  if (major == 0) return "there is no node; scripts/deps.sh test installs it";
  if (major < 20) return "node is older than 20; scripts/deps.sh test installs a newer one";
  if (!fs::is_directory(rig_folder() / "node_modules")) {
    return "the A2A SDKs are not in " + rig_folder().string() +
           "; tests/acceptance/a2a/install.sh installs them";
  }
  return std::nullopt;
}

NodeProcess::NodeProcess(const std::string& script, const std::string& argument) {
  fs::create_directory_symlink(fs::absolute(rig_folder() / "node_modules"),
                               folder_ / "node_modules");
  fs::copy_file(source_folder() / script, folder_ / script);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const std::string file = (folder_ / script).string();
  child_ = testing::Child::run([&] {
    ::dup2(ends[1], STDOUT_FILENO);
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execlp("node", "node", file.c_str(), argument.c_str(), nullptr);
    return 127;
  });
  ::close(ends[1]);
  output_ = ends[0];
  reader_ = std::thread([this] { read_output(); });
}

NodeProcess::~NodeProcess() { end(); }

void NodeProcess::end() {
  child_.signal(SIGKILL);
  child_.wait();
  if (reader_.joinable()) reader_.join();
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

void NodeProcess::read_output() {
  std::string pending;
  char piece[4096];
  for (ssize_t got = 1; got > 0;) {
    got = ::read(output_, piece, sizeof(piece));
    if (got > 0) pending.append(piece, static_cast<std::size_t>(got));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
  }
}

std::vector<std::string> NodeProcess::lines() {
  const std::lock_guard lock(mutex_);
  return lines_;
}

std::string NodeProcess::line_with(const std::string& text) {
  std::string found;
  testing::wait_until(
      [&] {
        for (const auto& line : lines()) {
          if (line.find(text) == std::string::npos) continue;
          found = line;
          return true;
        }
        return false;
      },
      std::chrono::seconds(30));
  return found;
}

}  // namespace rollcall::test
