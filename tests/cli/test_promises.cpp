// How near to published measurements the program promises to be: docs/accuracy.md has every row, these are the figures
// that no change may lose.
#include "catch.hpp"
#include "cli/run.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// The rows of a folder's files whose names begin so and end otherwise, and that pass `--where`.
json validated(const std::string& folder, const std::string& file, const std::vector<std::string>& filters,
               const std::string& other_end = "") {
  std::vector<std::string> words{"validate", "--format", "json"};
  for (const auto& each : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/measured/" + folder)) {
    const auto name = each.path().filename().string();
    const bool ends_otherwise = other_end.empty() || !name.ends_with(other_end + ".csv");
    if (each.path().extension() == ".csv" && name.starts_with(file) && ends_otherwise)
      words.push_back(each.path().string());
  }
  for (const auto& filter : filters) words.insert(words.end(), {"--where", filter});
  return json::parse(cli::run(words, cli::Environment{}).answer);
}

/// Without signs, in percent, from the smallest.
std::vector<double> errors(const json& validation) {
  std::vector<double> all;
  for (const auto& row : validation["rows"]) all.push_back(std::abs(row["error_pct"].get<double>()));
  std::ranges::sort(all);
  return all;
}

double mean(const std::vector<double>& sorted) {
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
}

/// The smallest that at least this share of them does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()))) - 1];
}

struct Promise {
  std::string folder;
  std::string file;  ///< how the names begin
  std::vector<std::string> filters;
  double median = 0;  ///< percent at most; 0: nothing is promised of it
  double ninetieth = 0;
  double mean = 0;
  std::string other_end = {};  ///< how the names of files end that are promised by themselves
};

void check(const Promise& promise) {
  const auto found = errors(validated(promise.folder, promise.file, promise.filters, promise.other_end));
  CAPTURE(promise.folder, promise.file, promise.filters, found.size());
  REQUIRE(found.size() >= 10);
  if (promise.median > 0) CHECK(quantile(found, 0.5) <= promise.median);
  if (promise.ninetieth > 0) CHECK(quantile(found, 0.9) <= promise.ninetieth);
  if (promise.mean > 0) CHECK(mean(found) <= promise.mean);
}

}  // namespace

TEST_CASE("peaks of training are as near to measured ones as promised", "[long]") {
  check({"", "", {"quality=A", "quantity=peak_allocated"}, 0.5, 0, 1});
  check({"", "", {"quality=A", "quantity=persistent"}, 0.5, 0, 1});
  check({"", "", {"quality=A", "quantity=peak_reserved"}, 2, 0, 3.5});
  check({"", "", {"quality=A", "quantity=nvidia_smi"}, 2, 0, 3.5});
  check({"", "", {"quality=B"}, 0, 0, 3.5});
  check({"", "torchtitan", {}, 0, 0, 8});
  check({"", "simumax", {}, 0, 0, 1.8});
}

TEST_CASE("steps of training take as long as promised", "[long]") {
  check({"time", "", {"quality=A"}, 4, 15, 0});
  check({"time", "megatron-bridge", {}, 6, 0, 10});
}

TEST_CASE("memory of servers is as promised", "[long]") {
  check({"serving", "", {"quantity=weights"}, 0.3, 0, 0});
  check({"serving", "gguf-sizes", {"quantity=file_size"}, 0.1, 0, 0});
  check({"serving", "", {"quantity=kv_cache"}, 2, 0, 0});
  check({"serving", "", {"quantity=kv_tokens"}, 2, 0, 0, "2026"});
  check({"serving", "startups-2026", {"quantity=kv_tokens"}, 5, 0, 0});
}

TEST_CASE("speeds of servers are as promised", "[long]") {
  check({"serving", "vllm-speed", {"quantity=tpot"}, 6.5, 21, 0});
  check({"serving", "vllm-rocm", {"quantity=tpot"}, 5, 14, 0});
  check({"serving", "vllm-rocm", {"quantity=throughput_tok_s"}, 0, 0, 25});
  check({"serving", "sglang-speed", {"quantity=tpot"}, 8, 24, 0});
  check({"serving", "trtllm-speed", {"quantity=tpot"}, 7, 35, 0});
  check({"serving", "vllm-speed", {"quantity=ttft"}, 16, 47, 0});
  check({"serving", "sglang-speed", {"quantity=ttft"}, 19, 64, 0});
  check({"serving", "trtllm-speed", {"quantity=ttft"}, 23, 59, 0});
  check({"serving", "llama", {"quantity=decode_tok_s"}, 4.2, 0, 0, "2026"});
  check({"serving", "llama-cpp-2026", {"quantity=decode_tok_s"}, 11, 0, 0});
  check({"serving", "llama-cpp-ubatch-2026", {"quantity=prefill_tok_s"}, 13, 0, 28});
  check({"serving", "llama", {"quantity=prefill_tok_s"}, 12, 0, 0});
}

TEST_CASE("nothing that ran out of memory is said to fit", "[long]") {
  const json verdicts = validated("", "", {"quantity=oom"})["verdicts"];
  CHECK(verdicts["false_fit"] == 0);
  CHECK(verdicts["true_miss"] >= 60);
}
