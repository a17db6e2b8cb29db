#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"

#include <new>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace llmcalc;

/// What a process is started with, and what it ends with.
struct Start {
  std::vector<std::string> words;
  ExitCode code = ExitCode::bad_question;
};

void answer(Start& start) {
  const auto refuse = [&](const quantity::BadInput& error) { cli::print_error(error, api::spelled_out(start.words)); };
  try {
    cli::ignore_broken_pipes();
    const auto outcome = cli::run(start.words, cli::read_environment());
    cli::print(outcome);
    start.code = outcome.code;
  } catch (const quantity::BadInput& error) {
    refuse(error);
  } catch (const quantity::Overflow& error) {
    refuse({{}, error.what()});
  } catch (const std::bad_alloc&) {
    refuse({{}, "there is not enough memory for an answer"});
  } catch (const std::exception& error) {
    refuse({{}, std::string("internal error: ") + error.what()});
  }
}

/// Answers on a stack of its own where the shell's (ulimit -s) is less than an answer with advice takes, 160 KiB.
void answer_on_enough_stack(Start& start) {
  constexpr std::size_t enough = 512 * 1024;
  rlimit limit{};
  pthread_t thread;
  pthread_attr_t attributes;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= enough) return answer(start);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, enough);
  const auto run = [](void* given) -> void* {
    answer(*static_cast<Start*>(given));
    return nullptr;
  };
  const bool begun = pthread_create(&thread, &attributes, run, &start) == 0;
  pthread_attr_destroy(&attributes);
  if (begun) {
    pthread_join(thread, nullptr);
  } else {
    answer(start);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Start start{{argv + (argc > 0 ? 1 : 0), argv + argc}};
  answer_on_enough_stack(start);
  return static_cast<int>(start.code);
}
