#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

using llmcalc::quantity::BadInput;

TEST_CASE("A message is place, problem and hint, and leaves out what is empty", "[error]") {
  CHECK(BadInput("--gpu", "unknown 'h101'", "did you mean 'h100-sxm'?").what() ==
        std::string("--gpu: unknown 'h101'; did you mean 'h100-sxm'?"));
  CHECK(BadInput("--gpu", "unknown 'h101'").what() == std::string("--gpu: unknown 'h101'"));
  CHECK(BadInput("", "nothing was asked").what() == std::string("nothing was asked"));
}

TEST_CASE("The three parts can be had one by one", "[error]") {
  const BadInput error("runs.csv:12:seq", "'8x' is not a length", "write it like 8k");
  CHECK(error.place() == "runs.csv:12:seq");
  CHECK(error.problem() == "'8x' is not a length");
  CHECK(error.hint() == "write it like 8k");
}
