// What GGUF files, their repositories and the types in them are called.
#include "dialects/servers/server_rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace llmcalc::dialects {
namespace {

using formats::Quant;
using spec::CacheType;

/// "Q8_0", as GGUF files of a type end their names.
std::string file_suffix(Quant quant) {
  std::string name(formats::facts(quant).name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace

bool is_gguf_repository(std::string_view name) {
  return name.find('/') != name.npos && quantity::to_lower(name).find("gguf") != std::string::npos;
}

std::string fetched(const ServedNames& names, Quant quant) {
  const auto colon = std::min(names.model.find(':'), names.model.size());
  const std::string tag = quantity::to_lower(names.model.substr(std::min(colon + 1, names.model.size())));
  // files whose experts are published narrow have no such tag, and their repositories one file or a usual one
  if (tag.empty() && quant == Quant::mxfp4_moe) return names.model;
  const bool says_another = !tag.empty() && !quantity::contains(formats::all_quants(), tag, &formats::QuantFacts::name);
  return says_another ? names.model : names.model.substr(0, colon) + ":" + file_suffix(quant);  // "UD-Q4_K_XL"
}

std::string gguf_file(const ServedNames& names, Quant quant) {
  const std::string& id = names.weights();
  return fmt::format("{}-{}.gguf", id.substr(id.rfind('/') + 1), file_suffix(quant));
}

std::string ggml_word(CacheType type) {
  if (type == CacheType::f16) return "f16";
  return type == CacheType::f32 ? "f32" : std::string(spec::name_of(type));
}

}  // namespace llmcalc::dialects
