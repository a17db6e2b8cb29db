// replay FOLDER: gives every file of a corpus to a fuzz target once, so that each compiler runs it on every test run.
// It stands where libFuzzer's own main stands in the fuzz build.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const std::vector<std::uint8_t> input(text.begin(), text.end());
  std::cerr << file.filename().string() << '\n';  // the last name printed is the input that crashed
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: replay FOLDER\n";
    return 2;
  }
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (!entry.is_regular_file()) continue;
    replay(entry.path());
    ++count;
  }
  if (count == 0) std::cerr << "no inputs in " << argv[1] << '\n';
  return count == 0 ? 1 : 0;
}
