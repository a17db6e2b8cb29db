// Writes the preset files into a C++ source, at build time.
//
//   embed_presets PRESETS_DIRECTORY OUTPUT.cpp
//
// Every entry goes through the same reader as a user's file, so that an unknown field or a wrong type stops the build
// with file and JSON pointer, as does a name that two entries share.

#include "llmcalc/quantity/error.hpp"
#include "read/config/family.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/entry.hpp"

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
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

std::string literal(const std::string& text) { return "R\"preset(" + text + ")preset\""; }

std::string row(const presets::PresetNames& names, const std::string& file, const presets::JsonPlace& entry) {
  std::string aliases;
  for (const auto alias : names.aliases) aliases += (aliases.empty() ? "" : "|") + lowered(std::string(alias));
  return "    {" + literal(std::string(names.id)) + ", " + literal(aliases) + ", " + literal(std::string(names.hf_id)) +
         ", " + literal(file) + ", " + literal(entry.value().dump()) + "},\n";
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
      const auto preset = read_entry(entry, nullptr);
      taken.take(names_of(preset), entry);
      rows += row(names_of(preset), file, entry);
    }
  }
  return "constexpr EmbeddedPreset " + name + "_table[] = {\n" + rows + "};\n\n";
}

std::string accessor(const std::string& name) {
  return "std::span<const EmbeddedPreset> embedded_" + name + "() { return " + name + "_table; }\n";
}

std::string form_name(llmcalc::spec::NormForm form) {
  return "static_cast<spec::NormForm>(" + std::to_string(static_cast<int>(form)) + ")";
}

std::string writing_literal(const llmcalc::spec::Writing& w) {
  const auto flag = [](bool set) { return std::string(set ? ", true" : ", false"); };
  return "{" + form_name(w.norm) + flag(w.fused_qkv) + flag(w.chained_gelu) + flag(w.narrow_softmax) +
         flag(w.caps_scores) + flag(w.caps_logits) + flag(w.eager_attention) + flag(w.partial_rotary) +
         flag(w.clamped_gate) + flag(w.wide_router) + flag(w.every_expert) + "}";
}

/// What a family inherits may stand in any file, so that all are read before the first is written.
std::string family_table(const fs::path& root) {
  std::vector<presets::PresetFile> files;
  for (const auto& path : json_files(root / "families")) {
    files.push_back({"presets/families/" + path.filename().string(), contents(path)});
  }
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

std::string source(const fs::path& root) {
  return "#include \"read/presets/embedded_presets.hpp\"\n\nnamespace llmcalc::read {\nnamespace {\n\n" +
         table("models", root, "models", presets::read_model_entry) +
         table("accelerators", root, "accelerators", presets::read_accelerator_entry) +
         family_table(root) + "}  // namespace\n\n" + accessor("models") +
         accessor("accelerators") +
         "std::span<const EmbeddedFamily> embedded_families() { return families_table; }\n" + "\n}  // namespace llmcalc::read\n";
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
