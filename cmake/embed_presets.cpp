// Writes the preset files into a C++ source, at build time.
//
//   embed_presets PRESETS_DIRECTORY OUTPUT.cpp
//
// Every entry goes through the same reader as a user's file, so that an unknown field or a wrong type stops the build
// with file and JSON pointer, as does a name that two entries share.

#include "llmcalc/quantity/error.hpp"
#include "read/config/family.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/fields.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace fs = std::filesystem;
namespace presets = llmcalc::read;

namespace {

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& each : fs::directory_iterator(folder)) {
    if (each.path().extension() == ".json") files.push_back(each.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return text;
}

/// Names of one catalogue, each leading to the id of its entry.
class TakenNames {
 public:
  void take(const presets::PresetNames& names, const presets::JsonPlace& entry) {
    std::vector<std::string_view> all;
    names.append_to(all);
    for (const auto name : all) {
      const auto [other, is_new] = owners_.try_emplace(lowered(std::string(name)), names.id);
      if (!is_new && other->second != names.id) {
        entry.fail("the name '" + std::string(name) + "' is taken by '" + other->second + "'");
      }
    }
    if (!ids_.insert(lowered(std::string(names.id))).second) entry.fail("the id is taken");
  }

 private:
  std::map<std::string, std::string> owners_;
  std::set<std::string> ids_;
};

/// With its length, which a compiler would count step by step, and gives up on a table of a megabyte.
std::string literal(const std::string& text) { return "R\"preset(" + text + ")preset\"sv"; }

/// Numbers to the last bit. \pre T has no padding
template <class T>
std::string bits(const T& numbers, const std::string& type) {
  constexpr auto words = sizeof(T) / sizeof(std::uint64_t);
  std::string text;
  for (const auto word : std::bit_cast<std::array<std::uint64_t, words>>(numbers)) {
    text += (text.empty() ? "" : ", ") + std::to_string(word) + 'U';
  }
  return "std::bit_cast<" + type + ">(std::array<std::uint64_t, " + std::to_string(words) + ">{" + text + "})";
}

std::string glimpse(const presets::ModelPreset&) { return "{}"; }

std::string glimpse(const presets::AcceleratorPreset& preset) {
  const auto one = presets::glimpse_of(preset.accelerator);
  const auto word = [](bool is) { return is ? ", true" : ", false"; };
  const std::string price = one.price_per_hour ? bits(*one.price_per_hour, "quantity::Money") : "std::nullopt";
  return "{" + literal(std::string(one.id)) + ", " + literal(std::string(one.vendor)) + ", quantity::bytes(" +
         std::to_string(llmcalc::quantity::in_bytes(one.memory)) + ")" + word(one.stacked) + word(one.multiplies_bf16) +
         ", " + price + "}";
}

std::string row(const presets::PresetNames& names, const std::string& file, const presets::JsonPlace& entry,
                const std::string& seen) {
  std::string aliases;
  for (const auto alias : names.aliases) aliases += (aliases.empty() ? "" : "|") + lowered(std::string(alias));
  return "    {" + literal(std::string(names.id)) + ", " + literal(aliases) + ", " + literal(std::string(names.hf_id)) +
         ", " + literal(file) + ", " + literal(entry.value().dump()) + ", " + seen + "},\n";
}

std::vector<presets::PresetFile> family_files(const fs::path& root) {
  std::vector<presets::PresetFile> files;
  for (const auto& path : json_files(root / "families")) {
    files.push_back({"presets/families/" + path.filename().string(), contents(path)});
  }
  return files;
}

/// \param read_entry  parses an entry completely and returns the preset
template <class ReadEntry>
std::string table(const std::string& name, const fs::path& root, const std::string& folder, ReadEntry read_entry) {
  std::string rows;
  TakenNames taken;
  for (const auto& path : json_files(root / folder)) {
    const std::string file = "presets/" + folder + '/' + path.filename().string();
    const presets::PresetDocument document(contents(path), file);
    for (const auto& entry : document.entries()) {
      if (entry.has("base")) entry.fail("a preset that ships is written out in full, without \"base\"");
      const auto preset = read_entry(entry);
      taken.take(names_of(preset), entry);
      rows += row(names_of(preset), file, entry, glimpse(preset));
    }
  }
  return "constexpr EmbeddedPreset " + name + "_table[] = {\n" + rows + "};\n\n";
}

std::string accessor(const std::string& name) {
  return "std::span<const EmbeddedPreset> embedded_" + name + "() { return " + name + "_table; }\n";
}

template <class Enum>
std::string enum_literal(const std::string& type, Enum value) {
  return "static_cast<spec::" + type + ">(" + std::to_string(static_cast<int>(value)) + ")";
}

/// The binding has as many names as the type has members, in their order, or it does not compile.
std::string writing_literal(const llmcalc::spec::Writing& writing) {
  const auto& [norm, projections, fused_qkv, fused_gate_and_up, rotates_by_head, inner_norms, wide_router,
               runs_all_experts, merges_expert_adapters, clamped_gate, chained_gelu, xielu, wide_scores, narrow_softmax,
               caps_scores, caps_logits, eager_attention, wide_residual, norms_values, norms_rotated, norms_branches,
               gate_apart, linear_router, differential, clamps_qkv, bounds_scores, local_blocks, masks_images,
               scales_by_sinks, loops_over_experts, hands_on_index, narrow_loss, sublayers] = writing;
  std::string literal = "{" + enum_literal("NormForm", norm) + ", " + enum_literal("DeltaProjections", projections);
  for (const bool set : {fused_qkv,        fused_gate_and_up,      rotates_by_head,    inner_norms,    wide_router,
                         runs_all_experts, merges_expert_adapters, clamped_gate,       chained_gelu,   xielu,
                         wide_scores,      narrow_softmax,         caps_scores,        caps_logits,    eager_attention,
                         wide_residual,    norms_values,           norms_rotated,      norms_branches, gate_apart,
                         linear_router,    differential,           clamps_qkv,         bounds_scores,  local_blocks,
                         masks_images,     scales_by_sinks,        loops_over_experts, hands_on_index, narrow_loss}) {
    literal += set ? ", true" : ", false";
  }
  return literal + ", " + std::to_string(sublayers) + "}";
}

/// What a family inherits may stand in any file, so that all are read before the first is written.
std::string family_table(const std::vector<presets::PresetFile>& files) {
  const presets::Families families(files);
  std::string rows;
  TakenNames taken;
  for (const auto& file : files) {
    const presets::PresetDocument document(file.text, file.path);
    for (const auto& place : document.entries()) {
      const auto entry = presets::read_family_entry(place);
      const presets::PresetNames names{entry.id, {entry.aliases.begin(), entry.aliases.end()}, {}};
      taken.take(names, place);
      std::string aliases;
      for (const auto& alias : entry.aliases) aliases += (aliases.empty() ? "" : "|") + lowered(alias);
      const std::string architecture = place.has("architecture") ? place.member("architecture").string() : "";
      rows += "    {" + literal(entry.id) + ", " + literal(aliases) + ", " + literal(architecture) + ", " +
              literal(file.path) + ", " + literal(entry.value.dump()) + ", " +
              writing_literal(presets::writing_of(*families.named(entry.id))) + "},\n";
    }
  }
  return "constexpr EmbeddedFamily families_table[] = {\n" + rows + "};\n\n";
}

/// Entries that derive from one in any file of their folder, so that all are found before the first is read.
class DerivedEntries {
 public:
  DerivedEntries(const fs::path& root, const std::string& folder, std::string_view usual) : usual_(usual) {
    for (const auto& path : json_files(root / folder)) {
      documents_.emplace_back(contents(path), "presets/" + folder + '/' + path.filename().string());
      for (const auto& place : documents_.back().entries()) {
        if (!place.has("id")) place.fail("needs an \"id\"");
        if (!places_.try_emplace(place.member("id").string(), place).second) place.fail("the id is taken");
        order_.push_back(place.member("id").string());
      }
    }
  }

  const std::vector<std::string>& order() const { return order_; }

  /// \param read_entry  of a place and its base, which is null for the entry that all others derive from
  template <class Preset, class ReadEntry>
  Preset read(const std::string& id, const ReadEntry& read_entry, std::set<std::string> within = {}) const {
    if (!places_.contains(id)) throw std::runtime_error("no entry is called '" + id + "'");
    const auto& place = places_.at(id);
    if (!within.insert(id).second) place.fail("derives from itself");
    check_sources(place);
    if (id == usual_) return read_entry(place, nullptr);
    const std::string base = place.has("base") ? place.member("base").string() : usual_;
    const auto inherited = read<Preset>(base, read_entry, within);
    return read_entry(place, &inherited);
  }

 private:
  /// What ships says where its numbers come from.
  static void check_sources(const presets::JsonPlace& place) {
    for (const auto& key : place.keys()) {
      const auto group = place.member(key);
      if (key != "stands_for" && group.value().is_object() && !group.has("source")) group.fail("needs a \"source\"");
    }
  }

  std::string usual_;
  std::list<presets::PresetDocument> documents_;
  std::map<std::string, presets::JsonPlace> places_;
  std::vector<std::string> order_;
};

std::string rates_row(const presets::RatesPreset& preset) {
  std::string texts;
  for (const auto& text : {preset.rates.id, preset.rates.measured, preset.rates.operations, preset.arch, preset.name}) {
    texts += literal(text) + ", ";
  }
  return "    {" + texts + bits(preset.bf16_over_fp32_below, "double") + ", " +
         bits(preset.bandwidth_from, "quantity::Bandwidth") + ",\n     " +
         bits(llmcalc::spec::MeasuredRates(preset.rates), "spec::MeasuredRates") + "},\n";
}

std::string rates_table(const fs::path& root) {
  const DerivedEntries entries(root, "rates", presets::usual_rates);
  std::string rows;
  for (const auto& id : entries.order()) {
    rows += rates_row(entries.read<presets::RatesPreset>(id, presets::read_rates_entry));
  }
  return "constexpr EmbeddedRates rates_table[] = {\n" + rows + "};\n\n";
}

std::string generation_row(const presets::GenerationPreset& preset) {
  std::string texts;
  for (const auto& text :
       {preset.id, preset.vendor, preset.arch, preset.memory, preset.ggml_as.empty() ? preset.id : preset.ggml_as})
    texts += literal(text) + ", ";
  return "    {" + texts + bits(preset.facts, "spec::GenerationFacts") + "},\n";
}

/// Entries that stand for no accelerator are there for others to derive from.
std::string generations_table(const fs::path& root) {
  const DerivedEntries entries(root, "generations", "any");
  const auto read = [&](const std::string& id) {
    return entries.read<presets::GenerationPreset>(id, presets::read_generation_entry);
  };
  std::string rows;
  for (const auto& id : entries.order()) {
    auto preset = read(id);
    if (!preset.ggml_as.empty()) preset.facts.ggml = read(preset.ggml_as).facts.ggml;
    if (!preset.arch.empty()) rows += generation_row(preset);
  }
  return "constexpr EmbeddedGeneration generations_table[] = {\n" + rows + "};\n\n";
}

std::string source(const fs::path& root) {
  const auto families = family_files(root);
  const auto read_model = [&](const auto& entry) { return presets::read_model_entry(entry, nullptr, families); };
  const auto read_gpu = [](const auto& entry) { return presets::read_accelerator_entry(entry, nullptr); };
  return "#include \"read/presets/embedded_presets.hpp\"\n\n#include <array>\n#include <bit>\n#include <cstdint>\n\n"
         "namespace llmcalc::read {\nnamespace {\n\nusing namespace std::string_view_literals;\n\n" +
         table("models", root, "models", read_model) + table("accelerators", root, "accelerators", read_gpu) +
         family_table(families) + rates_table(root) + generations_table(root) + "}  // namespace\n\n" +
         accessor("models") + accessor("accelerators") +
         "std::span<const EmbeddedFamily> embedded_families() { return families_table; }\n"
         "std::span<const EmbeddedRates> embedded_rates() { return rates_table; }\n"
         "std::span<const EmbeddedGeneration> embedded_generations() { return generations_table; }\n" +
         "\n}  // namespace llmcalc::read\n";
}

void run(const fs::path& root, const fs::path& output) {
  const std::string text = source(root);
  std::ofstream out(output, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + output.string());
}

}  // namespace

/// The tool makes the table; until then no family ships.
std::span<const presets::EmbeddedFamily> llmcalc::read::embedded_families() { return {}; }

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: embed_presets PRESETS_DIRECTORY OUTPUT.cpp\n";
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const llmcalc::quantity::BadInput& error) {
    std::cerr << error.place() << ": error: " << error.problem() << ' ' << error.hint() << '\n';
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "embed_presets: error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
