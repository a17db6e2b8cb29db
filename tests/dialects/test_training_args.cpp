// training_args.bin, whose class says whose arguments it holds.

#include "dialects/read.hpp"

#include <string>

using namespace llmcalc;
using namespace std::string_literals;

/// Pickles of protocol 2 as pickle.dumps gives them of an object with two attributes, whose class stands in the module
/// that the package has it in (LLaMA-Factory 0.9.5 hparams/training_args.py, ms-swift 4.6.0 trainers/arguments.py and
/// rlhf_trainers/arguments.py, axolotl 0.19.0 core/training_args.py, trl 1.16.0 trainer/reward_config.py).
TEST_CASE("training_args.bin is whose class it holds") {
  struct Held {
    const char* python_class;
    const char* terms;
  };
  constexpr Held classes[] = {
      {"transformers.training_args\nTrainingArguments", "framework=hf algorithm=- dtype=bf16"},
      {"llamafactory.hparams.training_args\nTrainingArguments", "framework=llama-factory algorithm=- dtype=-"},
      {"swift.trainers.arguments\nSeq2SeqTrainingArguments", "framework=ms-swift algorithm=- dtype=-"},
      {"swift.rlhf_trainers.arguments\nGRPOConfig", "framework=ms-swift algorithm=grpo"},
      {"axolotl.core.training_args\nAxolotlTrainingArguments", "framework=axolotl algorithm=-"},
      {"axolotl.core.training_args\nAxolotlKTOConfig", "framework=axolotl algorithm=kto"},
      {"UnslothSFTTrainer\nUnslothSFTConfig", "framework=unsloth algorithm=sft"},
      {"trl.trainer.reward_config\nRewardConfig", "framework=trl algorithm=orpo dtype=mixed-bf16"},
      {"my_project.train\nMyArguments", "framework=hf algorithm=-"},
  };
  for (const auto& [python_class, terms] : classes) {
    CAPTURE(python_class);
    const std::string state =
        "}(X\x1b\x00\x00\x00per_device_train_batch_sizeK\x04X\x04\x00\x00\x00"
        "bf16\x88ub"s;
    const auto bytes =
        "\x80\x02"
        "c" +
        std::string(python_class) + "\n)\x81" + state + ".";
    const auto reading = test::read_alone(bytes, "training_args.bin");
    test::check_terms(reading, terms);
    CHECK(test::word_of(reading, "micro_batch") == "4");
  }
}
