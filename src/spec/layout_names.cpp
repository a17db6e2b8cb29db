// The words for how a run is spread; see names.cpp for the rule of the order.
#include "llmcalc/spec/layout.hpp"
#include "spec/names.hpp"

namespace llmcalc::spec {

constexpr Named<Sharding> sharding_words[] = {
    {Sharding::none, "none"},   {Sharding::ddp, "ddp"},      {Sharding::zero1, "zero1"}, {Sharding::zero1, "zero-1"},
    {Sharding::zero2, "zero2"}, {Sharding::zero2, "zero-2"}, {Sharding::zero3, "zero3"}, {Sharding::zero3, "zero-3"},
    {Sharding::fsdp1, "fsdp1"}, {Sharding::fsdp2, "fsdp2"},  {Sharding::hsdp, "hsdp"}};

template <>
std::span<const Named<Sharding>> vocabulary<Sharding>() {
  return sharding_words;
}

constexpr Named<Schedule> schedule_words[] = {{Schedule::one_f_one_b, "1f1b"},
                                              {Schedule::gpipe, "gpipe"},
                                              {Schedule::zero_bubble, "zero-bubble"},
                                              {Schedule::zero_bubble, "zero_bubble"},
                                              {Schedule::zero_bubble, "zb-h1"}};

template <>
std::span<const Named<Schedule>> vocabulary<Schedule>() {
  return schedule_words;
}

constexpr Named<ContextExchange> context_exchange_words[] = {{ContextExchange::ring, "ring"},
                                                             {ContextExchange::ring, "p2p"},
                                                             {ContextExchange::all_to_all, "all-to-all"},
                                                             {ContextExchange::all_to_all, "all_to_all"},
                                                             {ContextExchange::all_to_all, "a2a"},
                                                             {ContextExchange::all_to_all, "ulysses"}};

template <>
std::span<const Named<ContextExchange>> vocabulary<ContextExchange>() {
  return context_exchange_words;
}

}  // namespace llmcalc::spec
