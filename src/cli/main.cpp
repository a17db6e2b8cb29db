#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"

#include <new>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  namespace cli = llmcalc::cli;
  namespace quantity = llmcalc::quantity;
  auto code = llmcalc::ExitCode::bad_question;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto refuse = [&](const quantity::BadInput& error) {
    cli::print_error(error, llmcalc::api::spelled_out(words));
  };
  try {
    cli::ignore_broken_pipes();
    const auto outcome = cli::run(words, cli::read_environment());
    cli::print(outcome);
    code = outcome.code;
  } catch (const quantity::BadInput& error) {
    refuse(error);
  } catch (const quantity::Overflow& error) {
    refuse({{}, error.what()});
  } catch (const std::bad_alloc&) {
    refuse({{}, "there is not enough memory for an answer"});
  } catch (const std::exception& error) {
    refuse({{}, std::string("internal error: ") + error.what()});
  }
  return static_cast<int>(code);
}
