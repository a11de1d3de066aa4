// Who we are, which processes there are, and what each was started with.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <climits>

#include "backend_support.hpp"

namespace rollcall::testing {
namespace {

template <std::size_t N>
std::string text(const char (&buffer)[N], std::uint32_t size) {
  return {buffer, size};
}

rollcall_whoami whoami(linux_backend::Probe& probe) {
  rollcall_whoami who = {};
  if (!probe.whoami(who, unbounded()).ok()) std::abort();
  return who;
}

struct Read {
  plugin::Status status;
  std::string bytes;
};

Read read(linux_backend::Probe& probe, std::int64_t pid, std::uint32_t what) {
  Read out;
  const rollcall_sink sink = {
      sizeof sink, 0, &out.bytes,
      [](void* context, const void* data, std::uint64_t size) -> std::int32_t {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data), size);
        return 0;
      }};
  out.status = probe.read(pid, what, plugin::Sink(&sink), unbounded());
  return out;
}

std::map<std::int64_t, std::int64_t> list(linux_backend::Probe& probe) {
  std::map<std::int64_t, std::int64_t> rows;
  const rollcall_pid_sink sink = {
      sizeof sink, 0, &rows,
      [](void* context, std::int64_t pid, std::int64_t parent) -> std::int32_t {
        (*static_cast<std::map<std::int64_t, std::int64_t>*>(context))[pid] = parent;
        return 0;
      }};
  EXPECT_TRUE(probe.list(plugin::PidSink(&sink), unbounded()).ok());
  return rows;
}

TEST(WhoAmI, NamesThisProcessAndThisMachine) {
  ProbeAt probe("/proc");
  const auto who = whoami(*probe);
  EXPECT_EQ(who.pid, ::getpid());
  EXPECT_EQ(who.uid, ::getuid());
  EXPECT_EQ(text(who.start_token, who.start_token_size), start_token_of(::getpid()));
  EXPECT_EQ(who.exact_id, exact_id_of(::getpid()));
  EXPECT_EQ(text(who.boot_id, who.boot_id_size) + "\n", slurp("/proc/sys/kernel/random/boot_id"));
  EXPECT_EQ(who.boot_rule, ROLLCALL_BOOT_EXACT);
  struct utsname names = {};
  ::uname(&names);
  EXPECT_EQ(text(who.nodename, who.nodename_size), names.nodename);
  EXPECT_EQ("pid:[" + text(who.pid_namespace, who.pid_namespace_size) + "]",
            std::filesystem::read_symlink("/proc/self/ns/pid"));
}

TEST(WhoAmI, ReadsItselfAnewAfterAFork) {
  ProbeAt probe("/proc");
  const auto parent = whoami(*probe);
  Child child = Child::run([&]() -> int {
    const auto who = whoami(*probe);
    if (who.pid != ::getpid() || who.pid == parent.pid) return 1;
    if (who.exact_id != exact_id_of(::getpid())) return 2;
    return text(who.start_token, who.start_token_size) == start_token_of(::getpid()) ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(WhoAmI, SaysWhyABootIdCannotBeReadAndNeverGivesAnEmptyOne) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  const auto missing = whoami(*probe);
  EXPECT_EQ(missing.boot_id_size, 0U);
  EXPECT_NE(text(missing.boot_id_why, missing.boot_id_why_size).find("No such file"),
            std::string::npos);
  proc.dir().write("sys/kernel/random/boot_id", " \n");
  const auto empty = whoami(*probe);
  EXPECT_EQ(empty.boot_id_size, 0U);
  EXPECT_NE(text(empty.boot_id_why, empty.boot_id_why_size).find("is empty"), std::string::npos);
}

TEST(WhoAmI, TriesAFailedBootIdAgainAndKeepsAGoodOne) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  EXPECT_EQ(whoami(*probe).boot_id_size, 0U);
  proc.dir().write("sys/kernel/random/boot_id", "first\n");
  EXPECT_EQ(text(whoami(*probe).boot_id, 5), "first");
  proc.dir().write("sys/kernel/random/boot_id", "other\n");
  EXPECT_EQ(text(whoami(*probe).boot_id, 5), "first");
}

TEST(WhoAmI, SaysWhyItsOwnStartCannotBeRead) {
  FakeProc proc;
  ProbeAt probe(proc.root());
  const auto who = whoami(*probe);
  EXPECT_EQ(who.start_token_size, 0U);
  EXPECT_GT(who.start_token_why_size, 0U);
}

TEST(WhoAmI, ReadsTheMachineIdFromItsSetting) {
  TempDir dir;
  const auto file = dir.write("machine-id", "0123456789abcdef0123456789abcdef\n").string();
  const rollcall_setting setting = {plugin::str("machine_id_path"), plugin::str(file)};
  linux_backend::Probe probe(plugin::Settings(&setting, 1));
  const auto who = whoami(probe);
  EXPECT_EQ(text(who.machine_id, who.machine_id_size), "0123456789abcdef0123456789abcdef");
}

TEST(List, NamesEveryProcessWithItsParent) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  const auto rows = list(*probe);
  ASSERT_EQ(rows.count(child.pid()), 1U);
  EXPECT_EQ(rows.at(child.pid()), ::getpid());
  EXPECT_EQ(rows.at(::getpid()), ::getppid());
}

TEST(List, SkipsWhatIsNoProcessAndGoesOnPastAnUnreadableOne) {
  FakeProc proc;
  proc.stat(7, stat_line(7, {.parent = 3})).stat(8, "cut");
  proc.dir().write("tty/drivers", "").parent_path();
  ProbeAt probe(proc.root());
  const auto rows = list(*probe);
  EXPECT_EQ(rows, (std::map<std::int64_t, std::int64_t>{{7, 3}, {8, -1}}));
}

TEST(List, StopsWhereTheHostSaysSo) {
  ProbeAt probe("/proc");
  const rollcall_pid_sink sink = {
      sizeof sink, 0, nullptr,
      [](void*, std::int64_t, std::int64_t) -> std::int32_t { return -999; }};
  EXPECT_EQ(probe->list(plugin::PidSink(&sink), unbounded()).code(), -999);
}

TEST(Read, GivesArgumentsAndEnvironmentByteForByte) {
  ProbeAt probe("/proc");
  Child child = Child::run([]() -> int {
    const char* argv[] = {"sl\xff eep", "600", nullptr};
    const char* envp[] = {"A=first", "A=second",        "NOEQ",   "=x",
                          "",        "M=line1\nB=fake", "X=\xff", nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(envp));
    return 127;
  });
  const std::string arguments(
      "sl\xff eep\0"
      "600\0",
      12);
  ASSERT_TRUE(wait_until(
      [&] { return read(*probe, child.pid(), ROLLCALL_READ_COMMAND).bytes == arguments; }));
  constexpr char kEnvironment[] = "A=first\0A=second\0NOEQ\0=x\0\0M=line1\nB=fake\0X=\xff";
  EXPECT_EQ(read(*probe, child.pid(), ROLLCALL_READ_ENVIRONMENT).bytes,
            std::string(kEnvironment, sizeof kEnvironment));
  EXPECT_EQ(read(*probe, child.pid(), ROLLCALL_READ_NAME).bytes, "sleep");
}

// How many variables of each kind stand there whole; -1: one is cut, or both kinds are there.
int whole_variables(const std::string& bytes) {
  constexpr std::size_t kValue = 2000;
  int count = 0;
  char kind = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string entry = bytes.substr(at, bytes.find('\0', at) - at);
    at += entry.size() + 1;
    if (entry.empty() || entry[0] != 'V') continue;
    const std::string value = entry.substr(entry.find('=') + 1);
    if (kind == 0) kind = value.empty() ? '?' : value[0];
    if (value != std::string(kValue, kind)) return -1;
    ++count;
  }
  return count;
}

// A shell that executes itself again and again, with 100 variables and with 200 in turn.
class ExecutesForEver {
 public:
  ExecutesForEver() {
    for (const char kind : {'a', 'b'}) {
      std::string words = std::string("KIND=") + kind;
      for (int i = 0; i < (kind == 'a' ? 100 : 200); ++i) {
        words += " V" + std::to_string(i) + "=" + std::string(2000, kind);
      }
      dir_.write(std::string(1, kind), words);
    }
    const std::string place = dir_.path().string();
    dir_.write("again", "cd " + place +
                            "; if [ \"$KIND\" = a ]; then n=b; else n=a; fi\n"
                            "exec env -i $(cat $n) /bin/sh " +
                            place + "/again\n");
    child_ = Child::exec({"/bin/sh", place + "/again"});
  }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }

 private:
  TempDir dir_;
  Child child_;
};

// It is executed anew, with the same environment, within the first two readings: both are cut at
// the same place, and agree.
TEST(Read, TakesNoEnvironmentThatWasCutTwiceAtTheSamePlace) {
  const TempDir dir;
  const std::string place = dir.path().string();
  ASSERT_EQ(::mkfifo((place + "/up").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((place + "/go").c_str(), 0600), 0);
  const std::string value(20000, 'v');
  dir.write("again", "echo up > " + place + "/up; read line < " + place +
                         "/go\nexec env -i V=" + value + " /bin/sh " + place + "/again\n");
  const Child shell = Child::exec({"/bin/sh", place + "/again"});
  const auto await_up = [&] { return slurp(place + "/up") == "up\n"; };
  const auto execute = [&] {
    std::ofstream(place + "/go") << "\n";
    return await_up();
  };
  ASSERT_TRUE(await_up() && execute());  // now it has that environment
  FakeSystem system;
  ProbeAt probe("/proc", system.table());
  int executed = 0;
  system.after_stat = [&] {
    const std::string environ = std::to_string(shell.pid()) + "/environ";
    const auto opened = std::count(system.opened.begin(), system.opened.end(), environ);
    if (executed < 2 && opened > executed) executed += execute() ? 1 : 100;
  };
  const auto got = read(*probe, shell.pid(), ROLLCALL_READ_ENVIRONMENT);
  EXPECT_TRUE(got.status.ok()) << got.status.message();
  EXPECT_NE(got.bytes.find("V=" + value), std::string::npos) << got.bytes.size();
  EXPECT_EQ(executed, 2);
}

TEST(Read, GivesTheEnvironmentOfOneProgramWholeWhereItExecutesAnother) {
  ProbeAt probe("/proc");
  ExecutesForEver shell;
  ASSERT_TRUE(wait_until([&] {
    return whole_variables(read(*probe, shell.pid(), ROLLCALL_READ_ENVIRONMENT).bytes) == 200;
  }));
  int told = 0;
  for (int i = 0; i < 2000 && told < 400; ++i) {
    const auto got = read(*probe, shell.pid(), ROLLCALL_READ_ENVIRONMENT);
    if (!got.status.ok()) continue;  // that it could not be read is an answer
    const int whole = whole_variables(got.bytes);
    ASSERT_TRUE(whole == 100 || whole == 200) << whole << " of " << got.bytes.size();
    ++told;
  }
  EXPECT_GT(told, 0);
}

TEST(Read, GivesParentAndDirectory) {
  ProbeAt probe("/proc");
  Child child = Child::sleeper();
  EXPECT_EQ(read(*probe, child.pid(), ROLLCALL_READ_PARENT).bytes, std::to_string(::getpid()));
  EXPECT_EQ(read(*probe, child.pid(), ROLLCALL_READ_CWD).bytes,
            std::filesystem::current_path().string());
}

TEST(Read, GivesEveryUserId) {
  ProbeAt probe("/proc");
  const std::string own = std::to_string(::geteuid());
  Child child = Child::sleeper();
  EXPECT_EQ(read(*probe, child.pid(), ROLLCALL_READ_USERS).bytes,
            own + " " + own + " " + own + " " + own);
  EXPECT_EQ(read(*probe, INT32_MAX, ROLLCALL_READ_USERS).status.code(), ROLLCALL_E_NOT_FOUND);
  if (::geteuid() != 0) return;
  Child other = Child::run([]() -> int {
    if (::setresuid(7, 8, 9) != 0) return 1;
    ::pause();
    return 0;
  });
  EXPECT_TRUE(wait_until(
      [&] { return read(*probe, other.pid(), ROLLCALL_READ_USERS).bytes == "7 8 9 8"; }));
}

TEST(Read, TellsEmptyFromGoneAndFromAZombie) {
  ProbeAt probe("/proc");
  Child bare = Child::run([]() -> int {
    const char* argv[] = {"sleep", "600", nullptr};
    const char* envp[] = {nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(envp));
    return 127;
  });
  ASSERT_TRUE(
      wait_until([&] { return read(*probe, bare.pid(), ROLLCALL_READ_NAME).bytes == "sleep"; }));
  const auto empty = read(*probe, bare.pid(), ROLLCALL_READ_ENVIRONMENT);
  EXPECT_TRUE(empty.status.ok()) << empty.status.message();
  EXPECT_EQ(empty.bytes, "");

  Child zombie = Child::zombie();
  for (const auto what : {ROLLCALL_READ_COMMAND, ROLLCALL_READ_ENVIRONMENT, ROLLCALL_READ_CWD}) {
    EXPECT_EQ(read(*probe, zombie.pid(), what).status.code(), ROLLCALL_E_NOT_FOUND) << what;
    EXPECT_EQ(read(*probe, INT32_MAX, what).status.code(), ROLLCALL_E_NOT_FOUND) << what;
    EXPECT_EQ(read(*probe, -1, what).status.code(), ROLLCALL_E_NOT_FOUND) << what;
  }
}

// Executes a file as nobody, with one variable; returns once it was executed.
Child run_as_nobody(const std::filesystem::path& file) {
  Child child = Child::run([&]() -> int {
    const char* argv[] = {"agent", "600", nullptr};
    const char* envp[] = {"SECRET=1", nullptr};
    if (!become_nobody()) return 126;
    ::execve(file.c_str(), const_cast<char**>(argv), const_cast<char**>(envp));
    return 127;
  });
  const std::string link = "/proc/" + std::to_string(child.pid()) + "/exe";
  std::error_code error;
  wait_until([&] { return std::filesystem::read_symlink(link, error) == file; }, 5s);
  return child;
}

// What nobody is told of its environment: the status, and whether there was a byte of it.
enum : int { kTold = 0, kDenied = 1, kEmpty = 2, kOther = 3, kNotNobody = 4 };
int environment_for_nobody(pid_t pid) {
  Child reader = Child::run([&]() -> int {
    if (!become_nobody()) return kNotNobody;
    ProbeAt probe("/proc");
    const auto got = read(*probe, pid, ROLLCALL_READ_ENVIRONMENT);
    if (got.status.ok()) return got.bytes.empty() ? kEmpty : kTold;
    const bool is_denied = got.status.code() == ROLLCALL_E_DENIED && got.bytes.empty();
    return is_denied ? kDenied : kOther;
  });
  const auto status = reader.wait();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kOther;
}

TEST(Read, TheEnvironmentOfASetuidProgramIsDeniedToItsUserAndNotEmpty) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes a program that is root's for others";
  const TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms{0755});
  for (const char* name : {"plain", "setuid"}) std::filesystem::copy_file("/bin/sleep", dir / name);
  ASSERT_EQ(::chmod((dir / "plain").c_str(), 0755), 0);
  ASSERT_EQ(::chmod((dir / "setuid").c_str(), 04755), 0);

  const Child plain = run_as_nobody(dir / "plain");
  ASSERT_EQ(environment_for_nobody(plain.pid()), kTold) << "its own user reads a plain program's";

  const Child setuid = run_as_nobody(dir / "setuid");
  const std::string status = slurp("/proc/" + std::to_string(setuid.pid()) + "/status");
  if (status.find("\nUid:\t65534\t0\t0\t0\n") == std::string::npos) {
    GTEST_SKIP() << "setuid is not heeded here (nosuid, or no_new_privs)";
  }
  EXPECT_EQ(environment_for_nobody(setuid.pid()), kDenied);
}

TEST(Read, SaysThatAKernelThreadHasNeitherArgumentsNorEnvironment) {
  ProbeAt probe("/proc");
  if (read(*probe, 2, ROLLCALL_READ_NAME).bytes != "kthreadd") GTEST_SKIP() << "no kernel threads";
  if (::geteuid() != 0) GTEST_SKIP() << "their files are root's";
  for (const auto what : {ROLLCALL_READ_COMMAND, ROLLCALL_READ_ENVIRONMENT}) {
    EXPECT_EQ(read(*probe, 2, what).status.code(), ROLLCALL_E_UNSUPPORTED) << what;
  }
}

TEST(Read, IsDeniedForAnotherUsersProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "changing the user wants root";
  Child child = Child::sleeper();
  Child reader = Child::run([&]() -> int {
    if (!become_nobody()) return 99;
    ProbeAt probe("/proc");
    for (const auto what : {ROLLCALL_READ_ENVIRONMENT, ROLLCALL_READ_CWD}) {
      if (read(*probe, child.pid(), what).status.code() != ROLLCALL_E_DENIED) return 1;
    }
    return 0;
  });
  EXPECT_EQ(reader.wait(), 0);
}

TEST(Read, RefusesMoreThanEightMebibytes) {
  FakeProc proc;
  proc.stat(7, stat_line(7));
  proc.dir().write("7/cmdline", std::string((8U << 20) + 1, 'x'));
  ProbeAt probe(proc.root());
  const auto big = read(*probe, 7, ROLLCALL_READ_COMMAND);
  EXPECT_EQ(big.status.code(), ROLLCALL_E_TOO_LARGE);
  EXPECT_EQ(big.bytes, "");
  proc.dir().write("7/cmdline", std::string(8U << 20, 'x'));
  EXPECT_EQ(read(*probe, 7, ROLLCALL_READ_COMMAND).bytes.size(), std::size_t{8} << 20);
}

TEST(Read, RefusesAnUnknownReading) {
  ProbeAt probe("/proc");
  EXPECT_EQ(read(*probe, ::getpid(), 99).status.code(), ROLLCALL_E_INVALID);
}

}  // namespace
}  // namespace rollcall::testing
