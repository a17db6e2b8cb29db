// Words in other forms than the vocabulary's: what they mean, and how a message about them quotes them.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "typed.hpp"

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

double gigabits(const std::string& rate) {
  const auto question = test::ask("--params 1e9 --gpu h100-sxm:16 --inter-node " + rate).question;
  REQUIRE(question.layout.inter_node_gbps.has_value());
  return *question.layout.inter_node_gbps;
}

}  // namespace

TEST_CASE("a network's rate is read in bits and in bytes, of one adapter and of several") {
  CHECK(gigabits("400Gbps") == 400.0);
  CHECK(gigabits("400gbps") == 400.0);
  CHECK(gigabits("400Gb/s") == 400.0);
  CHECK(gigabits("400Gbit/s") == 400.0);
  CHECK(gigabits("50GB/s") == 400.0);
  CHECK(gigabits("50GBps") == 400.0);
  CHECK(gigabits("8x400Gbps") == 3200.0);
  CHECK(gigabits("8x50GB/s") == 3200.0);
  CHECK(gigabits("1.6Tbps") == Approx(1600.0));
  CHECK(gigabits("0.2TB/s") == Approx(1600.0));
  CHECK(gigabits("3.2Tbit/s") == Approx(3200.0));
  for (const char* wrong : {"400", "400G", "400GB", "x400Gbps", "8*400Gbps", "0Gbps"}) {
    CHECK_THROWS_AS(gigabits(wrong), quantity::BadInput);
  }
}

TEST_CASE("a message quotes the words that were typed") {
  CHECK_THROWS_WITH(test::ask("--model llama-3-8b --gpu h100-sxm:8 --framework deepspeed --pp 2 --zero 2"),
                    Contains("--zero 2 contradicts --pp 2"));
  CHECK_THROWS_WITH(test::ask("--model llama-3-8b --gpu h100-sxm:8 --nodes 3"), Contains("--gpu h100-sxm:8"));
}

TEST_CASE("a word of another option is answered with that option") {
  const std::string run = "--model llama-3-8b --gpu h100 ";
  CHECK_THROWS_WITH(test::ask(run + "--method dpo"), Contains("say --algorithm dpo"));
  CHECK_THROWS_WITH(test::ask(run + "--dtype int4"), Contains("say --weights int4"));
  CHECK_THROWS_WITH(test::ask(run + "--offload cpu"), Contains("params+optimizer, says what goes there"));
  CHECK_THROWS_WITH(test::ask(run + "--optimizer 8bit-adam"), Contains("say adamw-8bit"));
  CHECK_THROWS_WITH(test::ask(run + "--method lara"), Contains("did you mean 'lora'"));
}

TEST_CASE("two words for one term are both quoted as they were typed") {
  const std::string run = "--model llama-3-8b --framework deepspeed ";
  CHECK_THROWS_WITH(test::ask(run + "--gpu h100-sxm:8 --zero 1 --sharding zero2"),
                    Contains("sets sharding to 'zero2', but --zero sets it by '1'"));
  CHECK_THROWS_WITH(test::ask(run + "--gpu h100-sxm:8 --sharding zero2 --zero 1"),
                    Contains("sets sharding by '1', but --sharding sets it to 'zero2'"));
  CHECK_THROWS_WITH(test::ask(run + "--gpu h100-sxm:8 --gpus 4"),
                    Contains("sets gpus to '4', but --gpu sets it by 'h100-sxm:8'"));
  CHECK_THROWS_WITH(test::ask(run + "--gpu h100-sxm:8 --inter-node 400Gbps --inter-node-gbps 100"),
                    Contains("but --inter-node sets it by '400Gbps'"));
}
