// The conformance suite: what every plugin of an interface must do, tried on its raw table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/check.hpp"
#include "plugin/instance.hpp"
#include "plugin/plugin_code.hpp"

namespace rollcall::loader {

// Notes down what was tried.
class Steps {
 public:
  Steps(std::vector<CheckStep>& steps, const CheckOptions& options)
      : steps_(steps), options_(options) {}
  void begin(std::string_view rule) const {
    if (options_.progress) options_.progress(rule);
  }
  void pass(std::string_view rule, std::string text = {}) {
    add(rule, CheckOutcome::kPassed, std::move(text));
  }
  void fail(std::string_view rule, std::string text) {
    add(rule, CheckOutcome::kFailed, std::move(text));
  }
  void skip(std::string_view rule, std::string text) {
    add(rule, CheckOutcome::kSkipped, std::move(text));
  }
  void expect(bool holds, std::string_view rule, std::string otherwise) {
    holds ? pass(rule) : fail(rule, std::move(otherwise));
  }

 private:
  void add(std::string_view rule, CheckOutcome outcome, std::string text) {
    steps_.push_back({.rule = std::string(rule), .outcome = outcome, .text = std::move(text)});
  }
  std::vector<CheckStep>& steps_;
  const CheckOptions& options_;
};

// An instance made and destroyed straight through the table.
class RawInstance {
 public:
  RawInstance(const InstanceSlots& slots, const Settings& settings);
  ~RawInstance();
  RawInstance(const RawInstance&) = delete;
  RawInstance& operator=(const RawInstance&) = delete;
  [[nodiscard]] bool made() const { return code_ == ROLLCALL_OK && self_ != nullptr; }
  [[nodiscard]] void* self() const { return self_; }
  [[nodiscard]] std::string problem() const;

 private:
  InstanceSlots slots_;
  void* self_ = nullptr;
  rollcall_error error_{};
  std::int32_t code_ = 0;
};

// Bounds of a call: a deadline from now on, and whether it is cancelled already.
[[nodiscard]] rollcall_call call_bounds(std::int64_t within_ns, bool cancelled = false);

// Whether a failure was told as it should be: a known negative code, and a message that ends.
[[nodiscard]] bool is_status(std::int32_t code);

void check_probe(const rollcall_process_probe& table, const CheckOptions& options, Steps& steps);
void check_control(const rollcall_process_control& table, const CheckOptions& options,
                   Steps& steps);
void check_store(const rollcall_record_store& table, const CheckOptions& options, Steps& steps);
void check_door(const rollcall_door_prober& table, const std::vector<std::string>& kinds,
                const CheckOptions& options, Steps& steps);

// The calling process.
[[nodiscard]] std::int64_t own_pid();

}  // namespace rollcall::loader
