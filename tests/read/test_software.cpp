// Software stacks as people write them, and as longer text mentions them.
#include "catch.hpp"
#include "read/words/terms.hpp"

using namespace llmcalc;
using spec::Date;
using spec::Library;
using spec::Release;

TEST_CASE("a release is read however people separate it from its library") {
  for (const auto* text :
       {"transformers==4.40.0", "transformers 4.40.0", "transformers-4.40.0", "transformers>=4.40"}) {
    CAPTURE(text);
    CHECK(read::read_software(text).release_of(Library::transformers) == Release{4, 40, 0});
  }
  CHECK(read::read_software("torch 2.4").release_of(Library::torch) == Release{2, 4, 0});
  CHECK(read::read_software("megatron-core 0.12").release_of(Library::megatron_core) == Release{0, 12, 0});
  CHECK(read::read_software("core_v0.12.1").release_of(Library::megatron_core) == Release{0, 12, 1});
  CHECK(read::read_software("NeMo container 25.09").release_of(Library::nemo) == Release{25, 9, 0});
}

TEST_CASE("a date is read to the day, the month or the year") {
  CHECK(read::read_software("2024").date == Date{2024, 0, 0});
  CHECK(read::read_software("Feb-Mar 2022").date == Date{2022, 2, 0});
  CHECK(read::read_software("torchtitan 9dec370, torch 2024-12-23").date == Date{2024, 12, 23});
}

TEST_CASE("a commit whose hash contains a year is no date") {
  const auto software = read::read_software("torchtitan ab2024cd");
  CHECK_FALSE(software.date);
  CHECK(software.unread == std::vector<std::string>{"ab2024cd"});
}

TEST_CASE("longer text gives what it names and says what was not read") {
  const auto software =
      read::read_software("HF Trainer/TRL SFT via fms-hf-tuning (torch 2.4.1, transformers 4.48.1, bnb 0.43.3); 2025");
  CHECK(software.release_of(Library::torch) == Release{2, 4, 1});
  CHECK(software.release_of(Library::transformers) == Release{4, 48, 1});
  CHECK(software.release_of(Library::bitsandbytes) == Release{0, 43, 3});
  CHECK(software.date == Date{2025, 0, 0});
  CHECK(software.unread.size() == 5);
  CHECK_FALSE(read::read_software("mine, the second one").is_known());
}

TEST_CASE("what was understood is written so that it is read again") {
  for (const auto* text : {"transformers 4.48.1, torch 2.4, 2025-06", "nemo 25.09", "megatron-lm, 2020-09", "2024"}) {
    CAPTURE(text);
    CHECK(read::write_software(read::read_software(text)) == text);
  }
}
