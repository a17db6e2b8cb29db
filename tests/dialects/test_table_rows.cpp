// Rows of the tables that say what the keys of trainers and servers mean, each asked alone: what a row says comes
// about, and no row is there that nothing reads. A row that is added is asked as well.
#include "catch.hpp"
#include "dialects/core/format.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {
namespace {

using Catch::Matchers::Contains;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A key of a row that the format reads by this row and no earlier one.
struct RowKey {
  const Format& format;
  const FormatRow& row;
  std::string key;
};

/// Keys of rows of such a use. One that stands for all that begin so is asked as a longer one of nobody.
std::vector<RowKey> keys_of(std::initializer_list<Use> uses) {
  std::vector<RowKey> keys;
  for (const Format& format : formats()) {
    for (const auto table : format.tables) {
      for (const FormatRow& row : table) {
        if (std::ranges::find(uses, row.use) == uses.end()) continue;
        for (const auto name : quantity::pieces_of(row.key, " ")) {
          const bool is_start = name.ends_with('*');
          const std::string key = is_start ? std::string(name.substr(0, name.size() - 1)) + "zz" : std::string(name);
          if (find_row(format, key) == &row) keys.push_back({format, row, key});
        }
      }
    }
  }
  return keys;
}

/// A value with which a key is read that tells a format by being there.
std::string telling_value(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> values[] = {
      {"framework", "megatron"},   {"estimator", "grpo"},     {"precision", "bf16-true"}, {"tuner_type", "lora"},
      {"finetuning_type", "lora"}, {"infer_backend", "vllm"}, {"parallel_size", "8"},     {"model", "name"}};
  const auto is_of = [&](const auto& each) { return key.find(each.first) != key.npos; };
  const auto* found = std::ranges::find_if(values, is_of);
  return found == std::end(values) ? "8" : std::string(found->second);
}

/// What a file of the format is known by; of one that is known by its command alone nothing.
Pairs known_by(const Format& format) {
  Pairs pairs;
  if (format.dialect == Dialect::peft) pairs.emplace_back("peft_type", "LORA");
  for (const auto keys : quantity::pieces_of(format.keys, " ")) {
    if (keys.starts_with('!')) continue;
    for (const auto key : quantity::pieces_of(keys, "+")) pairs.emplace_back(key, telling_value(key));
    break;  // of several ways the first
  }
  return pairs;
}

/// The reading of a file with these keys beside those that it is known by; of a refusal where and why, as unread.
Reading read_with(const Format& format, const Pairs& pairs) {
  const FindFile no_file_beside = [](const std::string&) { return std::optional<NamedFile>(); };
  Settings settings;
  for (const auto& all : {known_by(format), pairs}) {
    for (const auto& [key, value] : all) settings.put({key, value, {}, "f:" + key});
  }
  try {
    return Reader(no_file_beside).settings(format, settings, "f");
  } catch (const quantity::BadInput& refused) {
    Reading reading;
    reading.unread.emplace_back(refused.what());
    return reading;
  }
}

bool says(const Reading& reading, std::string_view term, std::string_view text) {
  const auto* word = find_word(reading.words, term);
  return word != nullptr && word->text == text;
}

/// Whether anything was said or assumed, or left open, because of the key.
bool rests_on(const Reading& reading, const std::string& key) {
  const auto is_from = [&](const Given& word) { return word.origin.where == "f:" + key; };
  const auto names = [&](const std::string& text) { return text.find("f:" + key) != text.npos; };
  return std::ranges::any_of(reading.words, is_from) || std::ranges::any_of(reading.open, is_from) ||
         std::ranges::any_of(reading.assumptions, names, &spec::Assumption::words) ||
         std::ranges::any_of(reading.unread, names);
}

/// What the key may be said to be, and what it is then in our words: of a switch both, of a number any.
std::vector<Spelling> spelled_of(std::string_view term, std::string_view words) {
  auto spellings = spellings_of(words);
  std::erase_if(spellings, [](const Spelling& each) { return each.ours.empty(); });
  if (!words.empty()) return spellings;
  const Term* known = find_term(term);
  if (known != nullptr && known->values == "0|1") return {{"true", "1"}, {"false", "0"}};
  return {{"7", "7"}};
}

/// A key with a value that may mean something only beside another of its format: experts of a token where there are
/// any.
bool says_beside_another(const RowKey& asked, const Spelling& spelling, const std::vector<RowKey>& others) {
  return std::ranges::any_of(others, [&](const RowKey& other) {
    if (&other.format != &asked.format || other.key == asked.key) return false;
    const auto values = spelled_of(other.row.name, other.row.words);
    const std::string beside(values.front().theirs);
    const auto reading = read_with(asked.format, {{other.key, beside}, {asked.key, std::string(spelling.theirs)}});
    return says(reading, asked.row.name, spelling.ours);
  });
}

}  // namespace

TEST_CASE("a key says the term of its row in the row's words, some of them only beside another key") {
  const auto others = keys_of({Use::term, Use::written, Use::rule});
  std::size_t alone = 0, beside = 0;
  for (const RowKey& asked : keys_of({Use::term, Use::written})) {
    for (const Spelling& spelling : spelled_of(asked.row.name, asked.row.words)) {
      CAPTURE(asked.format.name, asked.key, spelling.theirs, spelling.ours);
      const auto reading = read_with(asked.format, {{asked.key, std::string(spelling.theirs)}});
      const bool by_itself = says(reading, asked.row.name, spelling.ours);
      ++(by_itself ? alone : beside);
      const bool is_told_by =
          known_by(asked.format) != Pairs() && rests_on(reading, known_by(asked.format).front().first);
      if (!by_itself && !says_beside_another(asked, spelling, others)) CHECK(is_told_by);
    }
  }
  CHECK(alone > 1000);
  CHECK(beside < 20);
}

TEST_CASE("a key that moves the answer and has no term is named with what is assumed, where it is on") {
  for (const RowKey& asked : keys_of({Use::unmapped, Use::size})) {
    CAPTURE(asked.format.name, asked.key);
    const auto assumed = [&](const char* value) {
      const auto reading = read_with(asked.format, {{asked.key, value}});
      const auto found = std::ranges::find_if(reading.assumptions, [&](const spec::Assumption& one) {
        return one.words.starts_with(asked.key + ' ' + value + " (f:");
      });
      return found == reading.assumptions.end() ? std::string() : found->words;
    };
    CHECK_THAT(assumed("7"), Contains(std::string(asked.row.name)));
    for (const auto* off : {"none", "null"}) CHECK(assumed(off).empty());
    for (const auto* off : {"false", "0", "no"}) CHECK(assumed(off).empty() == (asked.row.use == Use::unmapped));
  }
}

TEST_CASE("nothing rests on a key that moves neither memory nor time, whatever its value") {
  for (const RowKey& asked : keys_of({Use::harmless})) {
    // The block of an algorithm is there where that is what runs (NeMo-RL, examples/configs), that of FSDP where the
    // run is sharded (llm-foundry), and what a flag of a command negates is another key (Unsloth).
    const bool is_block = (asked.format.dialect == Dialect::nemo_rl && asked.key.ends_with(".zz")) ||
                          (asked.format.dialect == Dialect::llm_foundry && asked.key.starts_with("fsdp_config."));
    const bool is_negation = asked.format.dialect == Dialect::unsloth && asked.key.starts_with("no_");
    if (is_block || is_negation) continue;
    CAPTURE(asked.format.name, asked.key);
    for (const auto* value :
         {"true", "false", "0", "1", "7", "0.5", "-1", "auto", "none", "full", "bf16", "lora", "x/y", "name.json"}) {
      CAPTURE(value);
      if (rests_on(read_with(asked.format, {{asked.key, value}}), asked.key)) FAIL_CHECK("something rests on it");
    }
  }
}

TEST_CASE("another name of a key says what the key says") {
  for (const RowKey& asked : keys_of({Use::alias})) {
    CAPTURE(asked.format.name, asked.key, asked.row.name);
    const std::string own(asked.row.name);
    const FormatRow* row = find_row(asked.format, own);
    REQUIRE(row != nullptr);
    if (quantity::contains(known_by(asked.format), own, &Pairs::value_type::first)) continue;  // which counts more
    for (const Spelling& spelling : spelled_of(row->name, row->words)) {
      const auto one = read_with(asked.format, {{asked.key, std::string(spelling.theirs)}});
      const auto other = read_with(asked.format, {{own, std::string(spelling.theirs)}});
      CHECK(std::ranges::equal(one.words, other.words,
                               [](const Given& a, const Given& b) { return a.term == b.term && a.text == b.text; }));
      CHECK(one.assumptions.size() == other.assumptions.size());
      CHECK_FALSE(rests_on(read_with(asked.format, {{asked.key, "7"}, {own, "7"}}), asked.key));
    }
  }
}

TEST_CASE("a flag of a server says the term of its option") {
  using serving::Says;
  for (const Format& format : formats()) {
    const auto* engine = spec::find_name<spec::Engine>(format.frameworks);
    if (!format.serves || engine == nullptr) continue;
    for (const serving::EngineOption& option : serving::row_of(engine->value).options) {
      if (option.says == Says::rule || option.says == Says::part) continue;
      for (const auto flag : quantity::pieces_of(option.names, " ")) {
        std::string key = with_underscores(flag.substr(flag.find_first_not_of('-')));
        key.erase(0, key.starts_with("OLLAMA_") ? std::string_view("OLLAMA_").size() : 0);  // a variable of its program
        CAPTURE(format.name, key);
        auto spellings = spelled_of(option.term, option.words);
        if (option.says == Says::number) spellings = {{"7", "7"}};
        if (option.says == Says::yes) spellings = {{"true", "1"}};
        if (option.says == Says::no) spellings = {{"true", "0"}};
        for (const Spelling& spelling : spellings) {
          CAPTURE(spelling.theirs, spelling.ours);
          CHECK(says(read_with(format, {{key, std::string(spelling.theirs)}}), option.term, spelling.ours));
        }
      }
    }
  }
}

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The code of the rules, and the table of keys by which a script of trl is known.
std::string text_of_rules() {
  const std::filesystem::path root = std::filesystem::path(LLMCALC_TEST_DATA).parent_path();
  std::string text = text_of(root / "presets/dialects/trl_evidence.rows");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src/dialects")) {
    if (entry.is_regular_file()) text += text_of(entry.path());
  }
  return text;
}

}  // namespace

/// What begins a name in one table must not hide the name in the next: "use_*" that moves nothing, and
/// "use_rotary_position_embeddings" of Megatron-LM.
TEST_CASE("A name in full is read by its own row, whatever begins so before it") {
  std::vector<std::string> hidden;
  for (const Format& format : formats()) {
    for (const auto table : format.tables) {
      for (const FormatRow& row : table) {
        for (const auto name : quantity::pieces_of(row.key, " ")) {
          const bool own =
              name.ends_with('*') || quantity::contains(quantity::pieces_of(find_row(format, name)->key, " "), name);
          if (!own) hidden.push_back(std::string(format.name).append(": ").append(name));
        }
      }
    }
  }
  CHECK(hidden == std::vector<std::string>());
}

TEST_CASE("a key that is left to the rules of its format is one that they name") {
  const std::string rules = text_of_rules();
  for (const RowKey& asked : keys_of({Use::rule})) {
    CAPTURE(asked.format.name, asked.key);
    std::string_view name = asked.key;
    if (name.ends_with("zz")) name.remove_suffix(2);
    while (name.ends_with('.')) name.remove_suffix(1);
    name.remove_prefix(std::min(name.rfind('.') + 1, name.size()));
    // MaxText's axes within machines and between them have one name (src/maxtext/configs/base.yml).
    if (name.ends_with("_parallelism"))
      name = name.substr(4, name.size() - 4 - std::string_view("_parallelism").size());
    CHECK(rules.find(name) != rules.npos);
  }
}

}  // namespace llmcalc::dialects
