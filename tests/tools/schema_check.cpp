// schema_check SCHEMA FILE...: holds JSON documents against a schema; exit code 1 when one of them breaks it.
#include "tools/schema.hpp"

#include <exception>
#include <fstream>
#include <iostream>

namespace {

nlohmann::json load(const char* path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error(std::string("cannot open ") + path);
  return nlohmann::json::parse(stream);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: schema_check SCHEMA FILE...\n";
    return 2;
  }
  const auto schema = load(argv[1]);
  bool all_valid = true;
  for (int i = 2; i < argc; ++i) {
    for (const auto& error : llmcalc::test::schema_errors(schema, load(argv[i]))) {
      std::cerr << argv[i] << ':' << error << '\n';
      all_valid = false;
    }
  }
  return all_valid ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "schema_check: " << error.what() << '\n';
  return 2;
}
