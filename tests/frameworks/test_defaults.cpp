// What trainers do unasked and what they cannot do, against their own files.
#include "catch.hpp"
#include "frameworks/abilities.hpp"
#include "frameworks/table.hpp"

#include <algorithm>
#include <string>

using namespace llmcalc;
using spec::Framework;
using spec::Method;

namespace {

spec::Question ask(Framework framework, Method method) {
  spec::Question question;
  question.training.framework = framework;
  question.training.method = method;
  return question;
}

std::string value_of(const spec::Question& question, std::string_view term) {
  const auto* found = frameworks::default_of(question, term);
  return found == nullptr ? std::string() : std::string(found->value);
}

}  // namespace

TEST_CASE("TRL recomputes and cuts at 1,024 tokens (sft_config.py, base_config.py)") {
  const auto question = ask(Framework::trl, Method::full);
  CHECK(value_of(question, "recompute") == "full");
  CHECK(value_of(question, "seq") == "1024");
  CHECK(value_of(question, "dtype") == "mixed-bf16");
}

TEST_CASE("Unsloth trains adapters beside 4 bits and sends checkpoints to the host (models/loader.py)") {
  auto question = ask(Framework::unsloth, Method::qlora);
  question.training.recompute.policy = spec::RecomputePolicy::full;
  CHECK(value_of(question, "method") == "qlora");
  CHECK(value_of(question, "weights") == "nf4-dq");
  CHECK(value_of(question, "offload") == "activations");
  CHECK(value_of(question, "optimizer") == "adamw-8bit");
}

TEST_CASE("torchtune recomputes LoRA on one card, not on several (recipes/configs/llama3_1)") {
  auto question = ask(Framework::torchtune, Method::lora);
  CHECK(value_of(question, "recompute") == "full");
  question.layout.gpus = question.layout.dp = 2;
  CHECK(value_of(question, "recompute").empty());
  CHECK(value_of(question, "sharding") == "fsdp2");
}

TEST_CASE("who recomputes layers unasked") {
  struct Trainer {
    Framework framework;
    std::string_view full, lora, qlora;
  };
  // Of each its file: gradient_checkpointing of trl/trainer/base_config.py and swift/trainers/arguments.py is True, of
  // transformers/training_args.py and axolotl's schema False, but peft/utils/other.py turns it on where
  // prepare_model_for_kbit_training is told nothing, as axolotl/loaders/model.py tells it; llamafactory/hparams/
  // model_args.py, disable_gradient_checkpointing is False; unsloth/models/loader.py, use_gradient_checkpointing is
  // "unsloth"; torchtitan's mode is "selective"; megatron/core/transformer/transformer_config.py,
  // recompute_granularity is None.
  for (const auto& [framework, full, lora, qlora] :
       {Trainer{Framework::trl, "full", "full", "full"}, Trainer{Framework::ms_swift, "full", "full", "full"},
        Trainer{Framework::llama_factory, "full", "full", "full"}, Trainer{Framework::unsloth, "full", "full", "full"},
        Trainer{Framework::hf, "", "", "full"}, Trainer{Framework::axolotl, "", "", ""},
        Trainer{Framework::torchtitan, "selective", "selective", "selective"},
        Trainer{Framework::megatron, "none", "none", "none"}}) {
    CAPTURE(spec::name_of(framework));
    CHECK(value_of(ask(framework, Method::full), "recompute") == full);
    CHECK(value_of(ask(framework, Method::lora), "recompute") == lora);
    CHECK(value_of(ask(framework, Method::qlora), "recompute") == qlora);
  }
}

TEST_CASE("what a framework lacks is named, with some that have it") {
  CHECK(frameworks::unable_to(Framework::megatron, ask(Framework::megatron, Method::qlora)) == "method");
  CHECK(frameworks::unable_to(Framework::llm_c, ask(Framework::llm_c, Method::qlora)) == "method");
  auto pipeline = ask(Framework::hf, Method::full);
  pipeline.layout.pp = 2;
  CHECK(frameworks::unable_to(Framework::hf, pipeline) == "pp");
  const auto able = frameworks::able_to("pp", pipeline);
  CHECK(std::ranges::find(able, "megatron") != able.end());
  CHECK(std::ranges::find(able, "hf") == able.end());
}

TEST_CASE("every default has a source, and the textbook can do everything") {
  for (const auto* row : frameworks::rows()) {
    CAPTURE(row->words.front());
    CHECK_FALSE(row->title.empty());
    for (const auto& usual : row->defaults) CHECK_FALSE(usual.source.empty());
  }
  CHECK(frameworks::unable_to(Framework::generic, ask(Framework::generic, Method::qlora)).empty());
}
