#include "llmcalc/quantity/error.hpp"
#include "read/settings/node.hpp"

#include <fmt/format.h>

namespace llmcalc::read {
namespace {
struct BrokenToml {};
}  // namespace
}  // namespace llmcalc::read

// Some broken files reach assertions of toml++, which it takes for granted in release builds ("[" at the end of a line
// in 3.3.0): here they refuse the file.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>((expression) || (throw llmcalc::read::BrokenToml(), false))
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

class Converter {
 public:
  explicit Converter(std::string_view place) : place_(place) {}

  Node convert(const toml::node& from) {
    if (++nodes_ > most_nodes) throw BadInput(at(from), fmt::format("holds more than {} values", most_nodes));
    Node node;
    node.where = at(from);
    if (const auto* table = from.as_table()) {
      node.kind = Node::Kind::table;
      for (const auto& [key, member] : *table) node.members.push_back({std::string(key.str()), convert(member)});
    } else if (const auto* list = from.as_array()) {
      node.kind = Node::Kind::list;
      for (const auto& item : *list) node.items.push_back(convert(item));
    } else {
      node.kind = Node::Kind::value;
      node.text = text_of(from);
    }
    return node;
  }

 private:
  std::string at(const toml::node& node) const { return fmt::format("{}:{}", place_, node.source().begin.line); }

  static std::string text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
    return {};  // dates and times say nothing about a run
  }

  std::string place_;
  std::size_t nodes_ = 0;
};

}  // namespace

Node parse_toml(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  try {
    const toml::table table = toml::parse(text);
    return Converter(place).convert(table);
  } catch (const BrokenToml&) {
    throw BadInput(std::string(place), "is not TOML");
  } catch (const toml::parse_error& error) {
    throw BadInput(fmt::format("{}:{}", place, error.source().begin.line),
                   "is not TOML: " + std::string(error.description()));
  }
}

}  // namespace llmcalc::read
