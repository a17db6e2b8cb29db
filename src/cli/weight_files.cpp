#include "cli/weight_files.hpp"

#include "cli/file_head.hpp"
#include "cli/files.hpp"
#include "llmcalc/quantity/error.hpp"

#include <system_error>
#include <utility>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;
using quantity::BadInput;
using read::Checkpoint;

/// How a file is read.
struct Reach {
  std::uint64_t part;      ///< at once
  std::uint64_t expected;  ///< fetched meanwhile
};

/// A GGUF of 128k tokens has some 9 MiB in front of its tensors; safetensors say the length in their first octets.
constexpr Reach gguf_reach{std::uint64_t{128} << 10U, std::uint64_t{10} << 20U};
constexpr Reach safetensors_reach{safetensors_start, 0};

Checkpoint read_one(const fs::path& path, WeightFile kind) {
  FileHead file(path);
  const bool is_gguf = kind == WeightFile::gguf;
  const auto [part, expected] = is_gguf ? gguf_reach : safetensors_reach;
  const auto head = file.in_parts(part, expected);
  return *(is_gguf ? read_gguf(head, file.name()) : read_safetensors(head, file.name())).checkpoint;
}

}  // namespace

WeightFile weight_file(const fs::path& path) {
  if (!is_file(path)) return WeightFile::none;
  if (lfs_size(path)) {
    throw BadInput(path.filename().string(), "is a pointer of Git LFS and not the file itself",
                   "git lfs pull --include " + path.filename().string());
  }
  FileHead head(path);
  constexpr std::uint64_t enough = 16;
  const auto start = head.first(enough);
  if (read::is_gguf(start.bytes) || path.extension() == ".gguf") return WeightFile::gguf;
  const bool named = path.extension() == ".safetensors";
  return named || read::is_safetensors(start) ? WeightFile::safetensors : WeightFile::none;
}

dialects::Reading weights_alone(Checkpoint weights, std::string place) {
  dialects::Reading reading;
  reading.kind = weights.kind;
  reading.place = std::move(place);
  reading.config = std::move(weights.config);
  reading.words = std::move(weights.words);
  if (!weights.quantization.empty()) {
    reading.words.push_back(
        {"quant", weights.quantization, {read::Source::file, reading.place + ":general.file_type"}});
  }
  reading.weights = std::move(weights);
  return reading;
}

Checkpoint read_weight_file(const fs::path& path, WeightFile kind) {
  if (kind != WeightFile::gguf) return read_one(path, kind);
  const auto find = [&](const std::string& name) -> std::optional<Checkpoint> {
    std::error_code error;
    const auto split = path.parent_path() / name;
    return fs::is_regular_file(split, error) ? std::optional(read_one(split, kind)) : std::nullopt;
  };
  return with_splits(read_one(path, kind), path.filename().string(), find);
}

}  // namespace llmcalc::cli
