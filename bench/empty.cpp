// The yardstick of `fit`'s start: a program that links the same libraries and does nothing.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

int main() { return fmt::format("{}", nlohmann::json::array().size()).size() == 1 ? 0 : 1; }
