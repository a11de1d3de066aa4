// Holds measured figures against limits.txt: bench_check LIMITS RESULT.json...
//
// A benchmark's figure is the least real time of its repetitions: what the work takes when nothing
// else is in the way. Exit 1 when a limit is broken or a figure is missing.
#include <rapidjson/document.h>
#include <rapidjson/istreamwrapper.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

struct Figure {
  double ns = 0;
  std::map<std::string, double> counters;
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
    for (const auto& member : run.GetObject()) {
      if (member.value.IsNumber())
        figure.counters[member.name.GetString()] = member.value.GetDouble();
    }
  }
}

struct Limit {
  std::string kind;  // ratio A B MAX; counter A KEY MAX; below A MAX UNIT
  std::string a;
  std::string b;  // another benchmark, or a counter's name
  std::string unit;
  double most = 0;
};

Limit parse_limit(const std::string& line) {
  Limit limit;
  std::istringstream words(line);
  words >> limit.kind >> limit.a;
  if (limit.kind == "below") {
    words >> limit.most >> limit.unit;
  } else {
    words >> limit.b >> limit.most;
  }
  const bool known = limit.kind == "ratio" || limit.kind == "counter" || limit.kind == "below";
  if (!words || !known || limit.most <= 0) die("cannot read the limit: " + line);
  return limit;
}

// nullptr: there is no figure, which was said.
const Figure* find(const std::string& name, const Figures& figures, bool& excused) {
  const auto found = figures.find(name);
  if (found == figures.end()) {
    std::printf("MISSING  nothing measured %s\n", name.c_str());
    return nullptr;
  }
  if (found->second.skipped.empty()) return &found->second;
  excused = found->second.skipped.find("no pidfs") != std::string::npos;
  std::printf("%s  %s: %s\n", excused ? "skipped" : "FAILED ", name.c_str(),
              found->second.skipped.c_str());
  return nullptr;
}

// Whether the limit is held, or cannot be told on this kernel.
bool check(const Limit& limit, const Figures& figures) {
  bool excused = false;
  const Figure* a = find(limit.a, figures, excused);
  if (a == nullptr) return excused;
  double measured = 0;
  if (limit.kind == "ratio") {
    const Figure* b = find(limit.b, figures, excused);
    if (b == nullptr) return excused;
    measured = a->ns / b->ns;
  } else if (limit.kind == "counter") {
    const auto counter = a->counters.find(limit.b);
    if (counter == a->counters.end()) die(limit.a + " has no counter " + limit.b);
    measured = counter->second;
  } else {
    measured = a->ns / ns_per(limit.unit);
  }
  const bool held = measured <= limit.most;
  std::printf("%s  %-36s %-28s %9.3f of at most %g %s\n", held ? "held  " : "BROKEN",
              limit.a.c_str(), limit.b.c_str(), measured, limit.most, limit.unit.c_str());
  return held;
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
    if (!check(parse_limit(line), figures)) ++broken;
    ++checked;
  }
  std::printf("%d limits, %d broken\n", checked, broken);
  return checked > 0 && broken == 0 ? 0 : 1;
}
