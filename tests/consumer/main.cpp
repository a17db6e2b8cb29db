// The smallest use of the installed library: a number as people write it, read and printed.
#include <llmcalc/quantity/format.hpp>
#include <llmcalc/quantity/parse.hpp>

#include <iostream>

int main() {
  using namespace llmcalc;
  std::cout << quantity::format_count(quantity::in_parameters(quantity::parse_parameters("7B", "here"))) << '\n';
}
