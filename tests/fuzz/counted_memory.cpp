// Stands in the place of operator new: a block begins with its size.
#include "counted_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t alive = 0;
std::size_t most_alive = 0;
constexpr std::size_t head = alignof(std::max_align_t);

/// Behind its size, or null.
void* counted(std::size_t size) {
  auto* block = size > static_cast<std::size_t>(-1) - head ? nullptr : static_cast<char*>(std::malloc(head + size));
  if (block == nullptr) return nullptr;
  *reinterpret_cast<std::size_t*>(block) = size;
  alive += size;
  most_alive = std::max(most_alive, alive);
  return block + head;
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = counted(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// As std::stable_sort asks; the sanitizers' own would not put a size in front.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<char*>(memory) - head;
  alive -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace llmcalc::fuzz {

std::size_t bytes_alive() { return alive; }
std::size_t most_bytes_alive() { return most_alive; }
void count_anew() { most_alive = alive; }

}  // namespace llmcalc::fuzz
