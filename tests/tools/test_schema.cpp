// The validator must refuse: a schema test that cannot fail proves nothing about our answers.
#include "catch.hpp"
#include "tools/schema.hpp"

#include <stdexcept>

using llmcalc::test::schema_errors;
using nlohmann::json;

namespace {

bool valid(const char* schema, const char* document) {
  return schema_errors(json::parse(schema), json::parse(document)).empty();
}

}  // namespace

TEST_CASE("each keyword accepts what it should and refuses the rest") {
  struct Example {
    const char* schema;
    const char* right;
    const char* wrong;
  };
  const auto example = GENERATE(
      Example{R"({"type": "integer"})", "3", "3.5"}, Example{R"({"type": ["string", "null"]})", "null", "1"},
      Example{R"({"const": 1})", "1", "2"}, Example{R"({"enum": ["fits", "tight"]})", R"("fits")", R"("fit")"},
      Example{R"({"minimum": 0})", "0", "-1"}, Example{R"({"required": ["a"]})", R"({"a": null})", R"({"b": 1})"},
      Example{R"({"properties": {"a": {"type": "null"}}})", R"({"a": null, "b": 1})", R"({"a": 1})"},
      Example{R"({"properties": {"a": true}, "additionalProperties": false})", R"({"a": 1})", R"({"a": 1, "b": 1})"},
      Example{R"({"additionalProperties": {"type": "string"}})", R"({"a": "x"})", R"({"a": 1})"},
      Example{R"({"items": {"type": "boolean"}})", "[true, false]", "[true, 0]"},
      Example{R"({"anyOf": [{"type": "null"}, {"minimum": 5}]})", "7", "3"},
      Example{R"({"oneOf": [{"minimum": 1}, {"minimum": 5}]})", "3", "7"},
      Example{R"({"oneOf": [{"const": 1}, {"const": 2}]})", "2", "3"},
      Example{R"({"$ref": "#/$defs/n", "$defs": {"n": {"const": 1}}})", "1", "2"},
      Example{R"({"properties": {"a": false}})", "{}", R"({"a": 1})"});
  CAPTURE(example.schema);
  CHECK(valid(example.schema, example.right));
  CHECK_FALSE(valid(example.schema, example.wrong));
}

TEST_CASE("an error names its place") {
  const auto errors = schema_errors(json::parse(R"({"properties": {"a": {"items": {"type": "string"}}}})"),
                                    json::parse(R"({"a": ["x", 1]})"));
  REQUIRE(errors.size() == 1);
  CHECK(errors[0] == R"(/a/1: is not of type "string")");
}

TEST_CASE("a keyword that is not known is an error, not a pass") {
  CHECK_THROWS_AS(valid(R"({"maxLength": 3})", R"("four")"), std::runtime_error);
  CHECK_THROWS_AS(valid(R"({"type": "float"})", "1"), std::runtime_error);
  CHECK_THROWS_AS(valid(R"({"$ref": "other.json"})", "1"), std::runtime_error);
}
