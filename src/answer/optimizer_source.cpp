#include "answer/inner/optimizer_source.hpp"

#include <algorithm>

namespace llmcalc::answer {

namespace {

using spec::Optimizer;

struct Source {
  Optimizer optimizer;
  std::string_view text;
};

constexpr std::string_view adam = "two moments: Kingma & Ba 2015, arXiv:1412.6980 algorithm 1";
constexpr std::string_view adam_8bit = "two 8-bit moments: bitsandbytes optim/optimizer.py, Optimizer2State.init_state";
constexpr std::string_view apollo = "two moments of projected gradients: Zhu et al. 2024, arXiv:2412.05270 table 1";
constexpr std::string_view sgd = "at most one momentum: torch/optim/sgd.py";

constexpr Source sources[] = {
    {Optimizer::adamw, adam},
    {Optimizer::paged_adamw, adam},
    {Optimizer::adamw_8bit, adam_8bit},
    {Optimizer::paged_adamw_8bit, adam_8bit},
    {Optimizer::adamw_4bit, "two 4-bit moments: torchao optim/subclass_4bit.py"},
    {Optimizer::sgd, sgd},
    {Optimizer::sgd_momentum, sgd},
    {Optimizer::muon, "one momentum for hidden matrices: Jordan 2024, github.com/KellerJordan/Muon"},
    {Optimizer::adafactor, "a row and a column vector a matrix: Shazeer & Stern 2018, arXiv:1804.04235 section 3"},
    {Optimizer::lion, "one momentum: Chen et al. 2023, arXiv:2302.06675 program 1"},
    {Optimizer::galore_adamw_8bit,
     "8-bit moments of projected gradients: Zhao et al. 2024, arXiv:2403.03507 section 4.2"},
    {Optimizer::adagrad, "one sum of squares: torch/optim/adagrad.py"},
    {Optimizer::lamb, "two moments: You et al. 2020, arXiv:1904.00962 algorithm 2"},
    {Optimizer::shampoo, "factors of each side of a matrix: Gupta et al. 2018, arXiv:1802.09568 algorithm 1"},
    {Optimizer::soap, "two moments in the eigenbasis of two factors: Vyas et al. 2024, arXiv:2409.11321 algorithm 3"},
    {Optimizer::apollo, apollo},
    {Optimizer::apollo_mini, apollo},
    {Optimizer::lomo, "no states: Lv et al. 2023, arXiv:2306.09782 section 3"},
    {Optimizer::adalomo, "a row and a column vector a matrix: Lv et al. 2023, arXiv:2310.10195 section 3.2"},
};

}  // namespace

std::string_view source_of(Optimizer optimizer) {
  const auto found = std::ranges::find(sources, optimizer, &Source::optimizer);
  return found == std::end(sources) ? "no optimizer, no states" : found->text;
}

}  // namespace llmcalc::answer
