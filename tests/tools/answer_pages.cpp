// answer_pages schema|page: what docs/llmcalc.schema.json and docs/json.md say of the answers, from the descriptions
// that write them (src/render/inner/fields*.hpp).
#include "render/inner/described.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace llmcalc::render {
namespace {

using Json = nlohmann::ordered_json;

struct Record;

/// What JSON a member may be.
struct Type {
  std::string name;                     ///< "integer"; "object" and "array" with what they are of
  std::vector<std::string> words = {};  ///< of a closed list
  bool nullable = false;
  bool negative = false;
  bool keyed = false;                  ///< an object whose keys are data
  std::shared_ptr<Type> element = {};  ///< of an array, and of an object whose keys are data
  std::shared_ptr<Record> record = {};
};

struct Member {
  std::string key;
  Type type;
  std::string meaning;
};

struct Record {
  std::string name;
  std::string meaning;
  bool answers = false;
  std::vector<Member> members;
};

template <class E>
std::vector<std::string> words_until(const Word<E>& word) {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(word.last); ++i) {
    words.emplace_back(word.name(static_cast<E>(i)));
    std::ranges::replace(words.back(), ' ', '_');
  }
  return words;
}

/// The walk of a description that collects what there is instead of writing it.
class TypeFields {
 public:
  void is(std::string_view name, std::string_view meaning) { record_.name = name, record_.meaning = meaning; }
  void answer(std::string_view kind, std::string_view, std::string_view meaning) {
    is(kind, meaning);
    record_.answers = true;
  }

  template <class T>
  void operator()(std::string_view key, const T& value, std::string_view meaning) {
    record_.members.push_back({std::string(key), type_of(value), std::string(meaning)});
  }

  template <class Describe>
  void object(std::string_view key, std::string_view meaning, Describe described) {
    Record around = std::exchange(record_, {});
    described();
    Type type{"object"};
    type.record = std::make_shared<Record>(std::exchange(record_, std::move(around)));
    record_.members.push_back({std::string(key), type, std::string(meaning)});
  }

  template <class T>
  static Type type_of(const T& value) {
    if constexpr (is_optional<T>) {
      Type type = type_of(or_empty<typename T::value_type>(nullptr));
      type.nullable = true;
      return type;
    } else if constexpr (std::is_same_v<T, Text>) {
      return {"string", {}, true};
    } else if constexpr (std::is_same_v<T, OneOf>) {
      return {"string", {value.words.begin(), value.words.end()}, value.nullable};
    } else if constexpr (is_word<T>) {
      return {"string", words_until(value)};
    } else if constexpr (is_signed<T>) {
      Type type = type_of(value.value);
      type.negative = true;
      return type;
    } else if constexpr (std::is_same_v<T, Measured>) {
      return {"number"};
    } else if constexpr (Plain<T>) {
      return plain_type(value);
    } else if constexpr (std::ranges::range<T>) {
      return list_type<std::ranges::range_value_t<T>>();
    } else {
      return {"object", {}, false, false, false, {}, std::make_shared<Record>(record_of(value))};
    }
  }

  template <class T>
  static Record record_of(const T& value) {
    TypeFields fields;
    describe(fields, value);
    return fields.record_;
  }

 private:
  template <class T>
  static Type plain_type(const T& value) {
    using Written = decltype(plain(value));
    if constexpr (std::is_enum_v<T>) {
      const auto words = spec::all_names<T>();
      return {"string", {words.begin(), words.end()}};
    } else if constexpr (std::is_same_v<Written, bool>) {
      return {"boolean"};
    } else if constexpr (std::is_same_v<Written, std::string_view>) {
      return {"string"};
    } else {
      return {std::is_same_v<Written, double> ? "number" : "integer"};
    }
  }

  template <class T>
  static Type list_type() {
    if constexpr (is_keyed<T>) {
      return {"object", {}, false, false, true, std::make_shared<Type>(type_of(T{}.value))};
    } else {
      return {"array", {}, false, false, false, std::make_shared<Type>(type_of(T{}))};
    }
  }

  Record record_;
};

template <class... Answers>
std::vector<Record> records_of(std::tuple<Answers...>) {
  return {TypeFields::record_of(Answers{})...};
}

std::vector<Record> all_answers() {
  using All = std::tuple<Report, Runs, ServingReport, Understood, PlanReport, PlanTable, Versioned<laws::ScaleAnswer>,
                         Versioned<trust::Validation>, Versioned<ModelCard>, Versioned<std::span<const ModelCard>>,
                         Versioned<AcceleratorCard>, Versioned<std::span<const AcceleratorCard>>,
                         Versioned<std::span<const FormatLine>>, Versioned<QuantizedList>, ErrorAnswer>;
  return records_of(All{});
}

// The schema.

Json schema_of(const Type& type, Json& definitions);

Json object_of(const Record& record, Json& definitions) {
  Json properties = Json::object();
  if (record.answers) {
    properties["schema_version"] = {{"const", 1}};
    properties["kind"] = {{"const", record.name}};
    properties["tool"] = {{"$ref", "#/$defs/tool"}};
  }
  for (const Member& member : record.members) {
    Json schema = schema_of(member.type, definitions);
    schema["description"] = member.meaning;
    properties[member.key] = schema;
  }
  Json required = Json::array();
  for (const auto& property : properties.items()) required.push_back(property.key());
  Json schema = {
      {"type", "object"}, {"required", required}, {"properties", properties}, {"additionalProperties", false}};
  if (!record.meaning.empty()) schema["description"] = record.meaning;
  return schema;
}

/// Defined once, under its name, where it has one.
Json reference_to(const Record& record, Json& definitions) {
  if (record.name.empty()) return object_of(record, definitions);
  if (!definitions.contains(record.name)) {
    definitions[record.name] = nullptr;
    definitions[record.name] = object_of(record, definitions);
  }
  return {{"$ref", "#/$defs/" + record.name}};
}

Json scalar_schema(const Type& type) {
  Json schema = Json::object();
  if (!type.words.empty()) {
    schema["enum"] = type.words;
    if (type.nullable) schema["enum"].push_back(nullptr);
    return schema;
  }
  schema["type"] = type.nullable ? Json{type.name, "null"} : Json(type.name);
  if ((type.name == "integer" || type.name == "number") && !type.negative) schema["minimum"] = 0;
  return schema;
}

Json schema_of(const Type& type, Json& definitions) {
  if (type.record) {
    const Json record = reference_to(*type.record, definitions);
    return type.nullable ? Json{{"oneOf", {record, {{"type", "null"}}}}} : record;
  }
  if (!type.element) return scalar_schema(type);
  return {{"type", type.name}, {type.keyed ? "additionalProperties" : "items", schema_of(*type.element, definitions)}};
}

/// On one line what has room there.
std::string text_of(const Json& value, std::size_t indent) {
  constexpr std::size_t page = 120;
  const auto short_form = value.dump();
  if (!value.is_structured() || short_form.size() + indent <= page) return short_form;
  std::string text(1, value.is_array() ? '[' : '{');
  bool first = true;
  for (const auto& [key, each] : value.items()) {
    text.append(first ? "\n" : ",\n").append(indent + 2, ' ');
    if (value.is_object()) text.append(Json(key).dump()).append(": ");
    text += text_of(each, indent + 2);
    first = false;
  }
  return text.append("\n").append(indent, ' ').append(1, value.is_array() ? ']' : '}');
}

std::string schema(const std::vector<Record>& answers) {
  Json definitions = {{"tool",
                       {{"type", "object"},
                        {"required", {"name", "version"}},
                        {"properties", {{"name", {{"const", "llmcalc"}}}, {"version", {{"type", "string"}}}}},
                        {"additionalProperties", false}}}};
  Json kinds = Json::array();
  for (const Record& answer : answers) kinds.push_back(reference_to(answer, definitions));
  const Json document = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "urn:llmcalc:schema:1"},
      {"title", "llmcalc answers"},
      {"description", "Every JSON answer of llmcalc, schema_version 1. The manual page is docs/json.md."},
      {"oneOf", kinds},
      {"$defs", definitions}};
  return text_of(document, 0) + '\n';
}

// The page.

std::string words_of_type(const Type& type) {
  if (!type.words.empty()) return "`" + quantity::joined(type.words, "`, `") + "`";
  return type.element && !type.element->element ? type.name + " of " + type.element->name + "s" : type.name;
}

/// "memory.ledger[].bytes": the way that jq goes.
void add_rows(const Record& record, const std::string& path, std::set<std::string>& told, std::string& page) {
  for (const Member& member : record.members) {
    const Type* type = &member.type;
    std::string steps;
    for (; type->element; type = type->element.get()) steps += type->keyed ? ".*" : "[]";
    const bool again = type->record && !type->record->name.empty() && !told.insert(type->record->name).second;
    page += "| `" + path + member.key + steps + "` | " + (type->record ? "object" : words_of_type(*type)) +
            (member.type.nullable || type->nullable ? " or null" : "") + " | " + member.meaning +
            (again ? " (as `" + type->record->name + "` above)" : "") + " |\n";
    if (type->record && !again) add_rows(*type->record, path + member.key + steps + ".", told, page);
  }
}

std::string page(const std::vector<Record>& answers) {
  std::string page;
  for (const Record& answer : answers) {
    std::set<std::string> told;
    page += "\n## `" + answer.name + "`\n\n" + answer.meaning + "\n\n| key | type | meaning |\n|---|---|---|\n";
    add_rows(answer, "", told, page);
  }
  return page;
}

}  // namespace
}  // namespace llmcalc::render

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  if (wanted != "schema" && wanted != "page") {
    std::cerr << "usage: answer_pages schema|page\n";
    return 2;
  }
  const auto answers = llmcalc::render::all_answers();
  std::cout << (wanted == "schema" ? llmcalc::render::schema(answers) : llmcalc::render::page(answers));
}
