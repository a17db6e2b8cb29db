// fuzz_<what> FOLDER [INPUTS [SEED [SECONDS]]]: gives every file of a corpus to a fuzz target once, so that each
// compiler runs it on every test run; then as many inputs that are mutated from them. Says which took longest and which
// asked for the most memory, and fails where one took longer than SECONDS of processor time (1) or asked for 100 MB.
// With =NUMBER in the place of INPUTS it writes that input out.
// It stands where libFuzzer's own main stands in the fuzz build, and needs no clang.
#include "counted_memory.hpp"
#include "mutations.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace llmcalc;

constexpr unsigned most_waiting = 60;  // seconds by the clock; then the input hangs
constexpr double megabyte = 1e6;
constexpr double most_memory = 100 * megabyte;
std::string doing;  // NOLINT: what a signal says was being done

[[noreturn]] void say_what(int signal) {
  const char* const why = signal == SIGALRM ? " hangs\n" : " crashes\n";
  for (const auto text : {std::string_view(doing), std::string_view(why)}) {
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  }
  _exit(1);
}

struct Cost {
  double seconds = 0;
  double bytes = 0;
};

Cost feed(const std::string& input, std::string name) {
  doing = std::move(name);
  fuzz::count_anew();
  const auto before = fuzz::bytes_alive();
  const auto start = std::clock();
  alarm(most_waiting);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  alarm(0);
  return {static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
          static_cast<double>(fuzz::most_bytes_alive() - before)};
}

/// The most of something, and of which input.
struct Most {
  double value = 0;
  std::uint64_t input = 0;

  void see(double seen, std::uint64_t number) {
    if (seen > value) *this = {seen, number};
  }
};

std::vector<std::string> replayed(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same corpus gives the same inputs
  std::vector<std::string> corpus;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    feed(corpus.back(), file.filename().string());
  }
  return corpus;
}

/// True where no input went over a limit.
bool mutate(const std::vector<std::string>& corpus, std::uint64_t inputs, std::uint64_t seed, double most_seconds) {
  Most slowest;
  Most largest;
  for (std::uint64_t number = 0; number < inputs; ++number) {
    const auto cost = feed(fuzz::mutated(corpus, seed, number),
                           "input " + std::to_string(number) + " of seed " + std::to_string(seed));
    slowest.see(cost.seconds, number);
    largest.see(cost.bytes, number);
  }
  std::cout << inputs << " inputs, slowest " << slowest.value * 1e3 << " ms (" << slowest.input << "), largest "
            << largest.value / megabyte << " MB (" << largest.input << ")\n";
  return slowest.value <= most_seconds && largest.value <= most_memory;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.size() > 4) {
    std::cerr << "usage: fuzz_<what> FOLDER [INPUTS [SEED [SECONDS]]]\n";
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGALRM}) std::signal(signal, say_what);
  const auto corpus = replayed(words[0]);
  if (corpus.empty()) {
    std::cerr << "no inputs in " << words[0] << '\n';
    return 1;
  }
  const auto seed = words.size() > 2 ? std::stoull(words[2]) : 1;
  const auto seconds = words.size() > 3 ? std::stod(words[3]) : 1.0;
  if (words.size() > 1 && words[1].starts_with('=')) {
    std::cout << fuzz::mutated(corpus, seed, std::stoull(words[1].substr(1)));
    return 0;
  }
  return words.size() < 2 || mutate(corpus, std::stoull(words[1]), seed, seconds) ? 0 : 1;
}
