#include "watch/door_asker.hpp"

#include <system_error>
#include <utility>

#include "registry/registry_impl.hpp"

namespace rollcall::watch {
namespace {

void finish(DoorAsker::Job& job, const CancelToken& cancel) {
  std::vector<SessionView*> views;
  for (SessionView& view : job.views) views.push_back(&view);
  Call call;
  call.cancel = cancel;
  job.registry->inside().finish(views, true, job.here, call);
}

}  // namespace

DoorAsker::~DoorAsker() {
  cancel_.cancel();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DoorAsker::ask(Job job) {
  if (job.views.empty()) return;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {  // no thread to be had: then it is asked here
      finish(job, cancel_);
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(job));
      return answered_();
    }
  }
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(job));
  }
  changed_.notify_all();
}

std::vector<DoorAsker::Job> DoorAsker::answers() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void DoorAsker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !asked_.empty(); });
    if (stopping_) return;
    Job job = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    finish(job, cancel_);
    lock.lock();
    done_.push_back(std::move(job));
    lock.unlock();
    answered_();
    lock.lock();
  }
}

}  // namespace rollcall::watch
