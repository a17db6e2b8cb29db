// Checkpoints in several files, and text that stands where weights should be.
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint.hpp"
#include "read/inner/json_text.hpp"
#include "read/presets/fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

/// Files of the index lie beside it: a name with a folder in it is none that was ever written.
void check_name(const std::string& file, const JsonPlace& place) {
  if (file.empty() || file.find('/') != std::string::npos || file.find('\\') != std::string::npos || file == "..") {
    place.fail("'" + file + "' is no file beside the index");
  }
}

}  // namespace

ShardIndex read_shard_index(std::string_view text, std::string_view place) {
  const nlohmann::json value = parse_json(text, place);
  const JsonPlace root(value, place);
  if (!root.has("weight_map")) throw BadInput(std::string(place), "has no weight_map, so it is no index of shards");
  ShardIndex index;
  const JsonPlace map = root.member("weight_map");
  std::set<std::string> files;
  for (const auto& tensor : map.keys()) {
    const JsonPlace entry = map.member(tensor);
    std::string file = entry.string();
    check_name(file, entry);
    files.insert(std::move(file));
    ++index.tensors;
  }
  index.files.assign(files.begin(), files.end());
  const bool stated = root.has("metadata") && root.member("metadata").has("total_size");
  if (stated) {
    const JsonPlace size = root.member("metadata").member("total_size");
    const double bytes = size.number();  // some writers leave a float
    constexpr double most = 9e18;
    if (bytes > most) size.fail("is more than any checkpoint");
    index.total_size = static_cast<std::uint64_t>(bytes);
  }
  return index;
}

void Checkpoint::count(const StoredType& more) {
  auto found = std::ranges::find(types, more.name, &StoredType::name);
  if (found == types.end()) found = types.insert(found, {more.name, 0, 0});
  found->tensors += more.tensors;
  found->bytes += more.bytes;
}

Checkpoint join(std::vector<Checkpoint> shards) {
  if (shards.empty()) return {};
  Checkpoint all = std::move(shards.front());
  for (auto next = std::next(shards.begin()); next != shards.end(); ++next) {
    all.tensors += next->tensors;
    all.bytes += next->bytes;
    all.parameters += next->parameters;
    all.counts_all = all.counts_all && next->counts_all;
    for (const StoredType& type : next->types) all.count(type);
    all.held.add(next->held);
    if (!all.config) all.config = std::move(next->config);
  }
  all.shards = std::max<std::uint64_t>(all.shards, shards.size());
  return all;
}

std::optional<std::uint64_t> lfs_pointer_size(std::string_view text) {
  constexpr std::string_view version = "version https://git-lfs.github.com/spec/v1\n";
  constexpr std::string_view key = "\nsize ";
  const auto at = text.find(key);
  if (!text.starts_with(version) || at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  return quantity::take_number<std::uint64_t>(text);
}

}  // namespace llmcalc::read
