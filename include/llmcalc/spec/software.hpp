// The software stack of a run, as far as it was said: which release of which library, and when.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::spec {

enum class Library {
  transformers,
  torch,
  peft,
  trl,
  accelerate,
  bitsandbytes,
  liger,
  torchao,
  flash_attention,
  torchtune,
  torchtitan,
  litgpt,
  lightning,
  composer,
  llm_foundry,
  deepspeed,
  megatron_lm,
  megatron_core,
  megatron_bridge,
  megatron_deepspeed,
  nemo,
  transformer_engine,
  internevo,
  colossalai,
  axolotl,
  llama_factory,
  unsloth,
  ms_swift,
  pax,
  maxtext,
  fms_fsdp,
  fsdp_qlora
};

struct Release {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const Release&, const Release&) = default;
};

/// A day, or what is known of it. A year alone is compared as its first of July, a month as its fifteenth.
struct Date {
  int year = 0;
  int month = 0;  ///< 0: not said
  int day = 0;    ///< 0: not said

  constexpr int ordinal() const {
    constexpr int middle_month = 7, middle_day = 15;
    const int in_month = day != 0 ? day : month == 0 ? 1 : middle_day;
    return (year * 100 + (month == 0 ? middle_month : month)) * 100 + in_month;
  }
  friend bool operator==(const Date&, const Date&) = default;
};

struct Software {
  struct Part {
    Library library;
    std::optional<Release> release;
  };

  std::vector<Part> parts;
  std::optional<Date> date;
  std::vector<std::string> unread;  ///< words that say nothing known

  bool is_known() const { return !parts.empty() || date; }
  /// The release of a library, if it was said.
  std::optional<Release> release_of(Library library) const {
    for (const Part& part : parts) {
      if (part.library == library && part.release) return part.release;
    }
    return std::nullopt;
  }
};

}  // namespace llmcalc::spec
