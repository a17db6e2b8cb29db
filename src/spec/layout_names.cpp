// The words for how a run is spread; see names.cpp for the rule of the order.
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/names.hpp"

namespace llmcalc::spec {

template <>
std::span<const Named<Sharding>> vocabulary<Sharding>() {
  using enum Sharding;
  static constexpr Named<Sharding> words[] = {{none, "none"},   {ddp, "ddp"},      {zero1, "zero1"}, {zero1, "zero-1"},
                                              {zero2, "zero2"}, {zero2, "zero-2"}, {zero3, "zero3"}, {zero3, "zero-3"},
                                              {fsdp1, "fsdp1"}, {fsdp2, "fsdp2"},  {hsdp, "hsdp"}};
  return words;
}

template <>
std::span<const Named<Schedule>> vocabulary<Schedule>() {
  using enum Schedule;
  static constexpr Named<Schedule> words[] = {{one_f_one_b, "1f1b"},
                                              {gpipe, "gpipe"},
                                              {zero_bubble, "zero-bubble"},
                                              {zero_bubble, "zero_bubble"},
                                              {zero_bubble, "zb-h1"}};
  return words;
}

template <>
std::span<const Named<ContextExchange>> vocabulary<ContextExchange>() {
  using enum ContextExchange;
  static constexpr Named<ContextExchange> words[] = {
      {ring, "ring"},      {ring, "p2p"},          {all_to_all, "all-to-all"}, {all_to_all, "all_to_all"},
      {all_to_all, "a2a"}, {all_to_all, "ulysses"}};
  return words;
}

}  // namespace llmcalc::spec
