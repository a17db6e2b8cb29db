// How many full estimates, of memory and time, one core makes in a second of a search. Nothing is left out because it
// does not fit: accelerators and machines have as much memory as it takes.

#include "search/plan.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>

#include <ctime>
#include <string_view>

using namespace llmcalc;

namespace {

struct Case {
  std::string_view model;
  std::int64_t gpus, seq, global_batch;
};

spec::Question question(const Case& c) {
  const read::Catalogue catalogue;
  spec::Question q;
  q.model = spec::build_model(catalogue.model(c.model, "bench").shape);
  q.gpu = catalogue.accelerator("a100-80", "bench").accelerator;
  q.pricing.memory = q.pricing.host_memory = quantity::gib(1 << 20);
  q.training.precision.grads = formats::Dtype::fp32;
  q.training.precision.master = true;
  q.training.seq = c.seq;
  q.training.global_batch = c.global_batch;
  q.layout.gpus = c.gpus;
  q.layout.nodes = c.gpus / 8;
  return q;
}

void measure(const Case& c) {
  const std::clock_t start = std::clock();
  const search::PlanSpace space({.bases = {question(c)}, .prunes = false});
  const search::Findings found = search::plan(space);
  const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{:16} {:6} GPUs: {:10} layouts in {:6.2f} s of one core: {:.2f} million estimates a second\n", c.model, c.gpus,
             found.looked_at, spent, static_cast<double>(found.fitting) / spent / 1e6);
}

}  // namespace

int main() {
  constexpr Case cases[] = {{"gpt3-175b", 64, 2048, 2520}, {"llama-3.1-405b", 16384, 8192, 2048}};
  for (const Case& c : cases) measure(c);
}
