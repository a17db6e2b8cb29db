#include "catch.hpp"
#include "quantity/suggest.hpp"

#include <array>

using namespace llmcalc::quantity;

namespace {

constexpr std::array<std::string_view, 6> gpus{"a100-80", "a100-40", "h100-sxm", "h100-pcie", "rtx-4090", "mi300x"};
using Names = std::vector<std::string_view>;

}  // namespace

TEST_CASE("A slip of the finger finds the name that was meant", "[suggest]") {
  CHECK(nearest_names("h100-smx", gpus).front() == "h100-sxm");
  CHECK(nearest_names("sdg", std::array<std::string_view, 2>{"sgx", "sgd"}).front() == "sgd");  // a swap costs one
  CHECK(nearest_names("aa", std::array<std::string_view, 4>{"aa1", "aa2", "aa3", "aa4"}).size() == 3);
  CHECK(nearest_names("RTX4090", gpus) == Names{"rtx-4090"});
  CHECK(nearest_names("a100-8O", gpus, 1) == Names{"a100-80"});
}

TEST_CASE("The beginning of a name is near however long the rest is", "[suggest]") {
  CHECK(nearest_names("h100", gpus) == Names{"h100-sxm", "h100-pcie"});
  CHECK(nearest_names("h100-pcie-80gb", gpus).front() == "h100-pcie");
}

TEST_CASE("A name that stands for several things is suggested once", "[suggest]") {
  CHECK(did_you_mean("sdg", std::array<std::string_view, 2>{"sgd", "sgd"}) == "did you mean 'sgd'?");
}

TEST_CASE("What is far from everything gets no suggestion", "[suggest]") {
  CHECK(nearest_names("toaster-oven", gpus).empty());
  CHECK(nearest_names("xy", std::array<std::string_view, 1>{"hf"}).empty());
  CHECK(nearest_names(std::string(1'000'000, 'x'), gpus).empty());
  CHECK(did_you_mean("toaster-oven", gpus).empty());
}

TEST_CASE("The question lists what is near", "[suggest]") {
  CHECK(did_you_mean("mi300", gpus) == "did you mean 'mi300x'?");
  CHECK(did_you_mean("h100", gpus) == "did you mean 'h100-sxm' or 'h100-pcie'?");
  CHECK(did_you_mean("zero", std::array<std::string_view, 4>{"zero1", "zero2", "zero3", "none"}) ==
        "did you mean 'zero1', 'zero2' or 'zero3'?");
}
