// Holds measured figures against limits.txt: bench_check LIMITS RESULT.json...
//
// A benchmark's figure is the least real time of its repetitions: what the work takes when nothing
// else is in the way. Exit 1 when a limit is broken or a figure is missing.
#include <rapidjson/document.h>
#include <rapidjson/istreamwrapper.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

struct Figure {
  double ns = 0;
  std::string skipped;  // why there is no figure
};
using Figures = std::map<std::string, Figure>;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "bench_check: %s\n", what.c_str());
  std::exit(2);
}

double ns_per(const std::string& unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  die("unknown unit '" + unit + "'");
}

// "name/1000" out of "name/1000/iterations:1/real_time".
std::string plain_name(std::string name) {
  for (const auto* part : {"/real_time", "/iterations:", "/repeats:"}) {
    const auto at = name.find(part);
    if (at != std::string::npos) name.erase(at);
  }
  return name;
}

void read_file(const char* path, Figures& figures) {
  std::ifstream in(path);
  if (!in) die(std::string("cannot read ") + path);
  rapidjson::IStreamWrapper stream(in);
  rapidjson::Document document;
  document.ParseStream(stream);
  if (document.HasParseError() || !document.IsObject() || !document.HasMember("benchmarks")) {
    die(std::string(path) + " is not what Google Benchmark writes");
  }
  for (const auto& run : document["benchmarks"].GetArray()) {
    if (run.HasMember("run_type") && std::string(run["run_type"].GetString()) != "iteration") {
      continue;
    }
    const std::string name = plain_name(run["name"].GetString());
    if (run.HasMember("error_occurred") && run["error_occurred"].GetBool()) {
      figures[name].skipped = run["error_message"].GetString();
      continue;
    }
    const double ns = run["real_time"].GetDouble() * ns_per(run["time_unit"].GetString());
    auto& figure = figures[name];
    if (figure.ns == 0 || ns < figure.ns) figure.ns = ns;
  }
}

// One line of limits.txt. `ratio A B MAX` or `below A MAX UNIT`. 0: held; 1: broken.
int check_line(const std::string& line, const Figures& figures) {
  std::istringstream words(line);
  std::string kind;
  std::string a;
  std::string b;
  std::string unit;
  double limit = 0;
  words >> kind >> a;
  if (kind == "ratio") {
    words >> b >> limit;
  } else if (kind == "below") {
    words >> limit >> unit;
  }
  if (!words || limit <= 0) die("cannot read the limit: " + line);
  for (const auto& name : {a, b}) {
    if (name.empty()) continue;
    const auto found = figures.find(name);
    if (found == figures.end()) {
      std::printf("MISSING  %s: nothing measured %s\n", line.c_str(), name.c_str());
      return 1;
    }
    if (!found->second.skipped.empty()) {
      const bool no_pidfs = found->second.skipped.find("no pidfs") != std::string::npos;
      std::printf("%s  %s: %s\n", no_pidfs ? "skipped" : "FAILED ", line.c_str(),
                  found->second.skipped.c_str());
      return no_pidfs ? 0 : 1;
    }
  }
  const double measured = figures.at(a).ns / (b.empty() ? ns_per(unit) : figures.at(b).ns);
  const bool held = measured <= limit;
  std::printf("%s  %-28s %-28s %9.3f of at most %g %s\n", held ? "held  " : "BROKEN", a.c_str(),
              b.empty() ? "" : ("/ " + b).c_str(), measured, limit, unit.c_str());
  return held ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) die("usage: bench_check LIMITS RESULT.json...");
  Figures figures;
  for (int i = 2; i < argc; ++i) read_file(argv[i], figures);
  std::ifstream limits(argv[1]);
  if (!limits) die(std::string("cannot read ") + argv[1]);
  int broken = 0;
  int checked = 0;
  for (std::string line; std::getline(limits, line);) {
    if (line.empty() || line.front() == '#') continue;
    broken += check_line(line, figures);
    ++checked;
  }
  std::printf("%d limits, %d broken\n", checked, broken);
  return checked > 0 && broken == 0 ? 0 : 1;
}
