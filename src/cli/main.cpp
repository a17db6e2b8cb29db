#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "cli/system.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <new>

namespace {

using namespace llmcalc;

ExitCode answer_line(const std::vector<std::string>& words) {
  const auto refuse = [&](const quantity::BadInput& error) { cli::print_error(error, api::spelled_out(words)); };
  try {
    cli::prepare_streams();
    auto environment = cli::read_environment();
    environment.out = cli::print_piece;
    const auto outcome = cli::run(words, environment);
    cli::print(outcome);
    return outcome.code;
  } catch (const quantity::BadInput& error) {
    refuse(error);
  } catch (const quantity::Overflow& error) {
    refuse({{}, error.what()});
  } catch (const std::bad_alloc&) {
    refuse({{}, "there is not enough memory for an answer"});
  } catch (const std::exception& error) {
    refuse({{}, std::string("internal error: ") + error.what()});
  }
  return ExitCode::bad_question;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t enough = 512 * 1024;  // an answer with advice takes 160 KiB
  ExitCode code = ExitCode::bad_question;
  cli::on_enough_stack(enough, [&] { code = answer_line(cli::words_of(argc, argv)); });
  return static_cast<int>(code);
}
