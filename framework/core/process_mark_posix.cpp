#include "core/process_mark.hpp"

#include <cstddef>

#include <sys/mman.h>
#include <unistd.h>

namespace rollcall::core {
namespace {

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

ProcessMark::ProcessMark() : pid_(::getpid()) {
#if defined(MADV_WIPEONFORK)
  void* page =
      ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, page_size(), MADV_WIPEONFORK) != 0) {
    ::munmap(page, page_size());
    return;
  }
  page_ = static_cast<unsigned char*>(page);
  *page_ = 1;
#endif
}

ProcessMark::~ProcessMark() {
  if (page_ != nullptr) ::munmap(page_, page_size());
}

bool ProcessMark::in_same_process() const {
  return ::getpid() == pid_ && (page_ == nullptr || *page_ == 1);
}

}  // namespace rollcall::core
