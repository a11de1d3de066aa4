// Asks doors on a thread of its own: a door that hangs holds up no news.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/registry.hpp"

namespace rollcall::watch {

// Threads: one, but for the inside. The thread begins with the first question.
class DoorAsker {
 public:
  struct Job {
    std::size_t store = 0;  // the asker's matter, given back
    const Registry* registry = nullptr;
    Here here;
    std::vector<SessionView> views;  // observed; finish() is still to come
  };
  // `answered`: called by the thread when answers() has something.
  explicit DoorAsker(std::function<void()> answered) : answered_(std::move(answered)) {}
  ~DoorAsker();
  DoorAsker(const DoorAsker&) = delete;
  DoorAsker& operator=(const DoorAsker&) = delete;

  void ask(Job job);
  // The jobs that are done, their findings with what the doors said.
  [[nodiscard]] std::vector<Job> answers();

 private:
  void work();

  std::function<void()> answered_;
  CancelToken cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> asked_;
  std::vector<Job> done_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rollcall::watch
