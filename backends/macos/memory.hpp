// Memory that frees itself and says when there is none, in place of the C++ runtime's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace rollcall::macos_backend {

// A growing array of plain values.
template <class T>
class List {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  List() = default;
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() { std::free(items_); }

  // Room for at least `count`; false: no memory, and nothing was changed.
  [[nodiscard]] bool reserve(std::size_t count) {
    if (count <= room_) return true;
    if (count > SIZE_MAX / sizeof(T)) return false;
    void* grown = std::realloc(items_, count * sizeof(T));
    if (grown == nullptr) return false;
    items_ = static_cast<T*>(grown);
    room_ = count;
    return true;
  }
  // False: no memory, and nothing was added.
  [[nodiscard]] bool push(const T& item) {
    if (size_ == room_ && !reserve(room_ < 32 ? 32 : room_ * 2)) return false;
    items_[size_++] = item;
    return true;
  }
  // Of what was reserved.
  void set_size(std::size_t size) { size_ = size; }

  [[nodiscard]] T* data() { return items_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t room() const { return room_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] T* begin() { return items_; }
  [[nodiscard]] T* end() { return items_ + size_; }
  [[nodiscard]] const T* begin() const { return items_; }
  [[nodiscard]] const T* end() const { return items_ + size_; }

 private:
  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace rollcall::macos_backend
