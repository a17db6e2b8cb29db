// What a file of settings holds, whatever it is written in: values, lists and tables, each with its place; and its keys
// with their values, where a table's key is "fsdp_config.version" and a flag's is its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct Member;

struct Node {
  enum class Kind { nothing, value, list, table };
  Kind kind = Kind::nothing;
  std::string text;   ///< of a value; of a table that is an object of Python's, its class
  std::string where;  ///< "axolotl.yaml:27", "ds_config.json:/zero_optimization/stage"
  std::vector<Node> items;
  std::vector<Member> members;

  const Node* find(std::string_view key) const;
};

/// One entry of a table.
struct Member {
  std::string key;
  Node value;
};

/// A file of settings that a person wrote has some hundred values; these bounds keep one that nobody wrote from taking
/// memory or stack.
inline constexpr std::size_t largest_settings = std::size_t{1} << 20U;
inline constexpr std::size_t most_nodes = 10'000;
inline constexpr int deepest_node = 64;
/// Text of a section without keys, "[model.ac]" of TOML, which may switch something on by being there.
inline constexpr std::string_view empty_section = "{}";
inline constexpr std::size_t most_settings = 4'000;  ///< of one file or command, each looked up among the others

/// \throws quantity::BadInput at `place` when the text is longer than any file of settings
void refuse_large(std::string_view text, std::string_view place);

/// Each reads a whole file; `place` is its name.
/// \throws quantity::BadInput with the line or byte of what cannot be read
Node parse_yaml(std::string_view text, std::string_view place);  ///< aliases and merge keys expanded
Node parse_toml(std::string_view text, std::string_view place);
Node parse_commented_json(std::string_view text, std::string_view place);  ///< with // comments, as DeepSpeed has them

/// Whether bytes are those of a pickle of Python, or of an archive as torch.save writes them.
bool is_pickled(std::string_view bytes);
/// Objects become tables and calls their arguments; a table's text is the class, "transformers.training_args
/// TrainingArguments".
Node parse_pickle(std::string_view bytes, std::string_view place);

struct Setting {
  std::string key;                 ///< with '_' where a flag has '-'
  std::string text;                ///< a list's items joined by commas; empty where nothing is said
  std::vector<std::string> items;  ///< of a list
  std::string where;
  std::string unknown = {};  ///< a shell variable that the value hangs on and nobody set
  bool in_folder = false;    ///< which stands in the folder of a path whose last part is known
};

class Settings {
 public:
  /// Takes the place of an earlier one of the same key.
  /// \throws quantity::BadInput at a setting beyond `most_settings`
  void put(Setting setting);
  void put(const Settings& above);
  /// A setting that another one stands for, at that one's place.
  void say(std::string_view key, std::string_view text, Setting because);

  void remove(std::string_view key);

  const Setting* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The value in lower case; empty where it is not there.
  std::string text(std::string_view key) const;
  const std::vector<Setting>& all() const { return all_; }
  std::vector<Setting>& all() { return all_; }

 private:
  std::vector<Setting> all_;
};

/// "a-b" is "a_b".
std::string with_underscores(std::string_view name);

/// The values below a table, each under its dotted key. Those that are null are left out.
Settings flat(const Node& table);

/// Puts values in the place of "${key}", as OmegaConf does (torchtune); what names no value stays as it is.
void interpolate(Settings& settings);

// What a snapshot of PyTorch's caching allocator holds (torch.cuda.memory._dump_snapshot): how much was allocated and
// reserved, now and at the most since its recording began.

/// Bytes of one accelerator.
struct RecordedMemory {
  std::int64_t device = 0;
  std::int64_t allocated = 0;  ///< when the snapshot was taken
  std::int64_t reserved = 0;
  std::int64_t most_allocated = 0;  ///< of what was recorded, and now where nothing was
  std::int64_t most_reserved = 0;
  bool is_recorded = false;  ///< whether there is a history of it
};

/// Whether bytes are a pickle with the keys of such a snapshot.
bool is_memory_snapshot(std::string_view bytes);

/// Accelerators with memory of which something is reserved or recorded. Nothing is executed, and stacks of calls, which
/// are most of a file, are passed over.
/// \throws quantity::BadInput at `place` where it is none as PyTorch writes it
std::vector<RecordedMemory> parse_memory_snapshot(std::string_view bytes, std::string_view place);

}  // namespace llmcalc::read
