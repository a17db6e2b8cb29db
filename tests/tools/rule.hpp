// Rules between figures of one answer, and the sides of which they are made.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

using nlohmann::json;
using Figure = std::optional<double>;

/// What is at a place such as "speed.cost.usd_per_hour"; nullptr where it or what it stands in is missing or null.
inline const json* find(const json& answer, std::string_view place) {
  const json* value = &answer;
  while (!place.empty()) {
    const auto end = std::min(place.find('.'), place.size());
    if (!value->is_object()) return nullptr;
    const auto member = value->find(std::string(place.substr(0, end)));
    if (member == value->end()) return nullptr;
    value = &*member;
    place.remove_prefix(std::min(end + 1, place.size()));
  }
  return value->is_null() ? nullptr : value;
}

inline Figure at(const json& answer, std::string_view place) {
  const json* value = find(answer, place);
  return value == nullptr ? Figure() : Figure(value->get<double>());
}

/// The number that a term of the question has.
inline double term(const json& answer, const char* name) {
  return std::stod(answer.at("question").at(name).at("value").get<std::string>());
}

enum class Order { same, at_most };

/// Two sides that are the same figure, found in two ways, or one of which is never above the other.
struct Rule {
  const char* said;
  Order order;
  std::function<Figure(const json&)> one, other;
};

/// Of the answer, a product of figures and of a number.
inline auto product(double factor, std::vector<const char*> places) {
  return [=](const json& answer) {
    Figure result = factor;
    for (const char* place : places) {
      const Figure figure = at(answer, place);
      if (!figure) return Figure();
      *result *= *figure;
    }
    return result;
  };
}

/// A product with a length that requests have in the mean, of which the longest is told.
inline auto tokens_of(const char* longest, std::vector<const char*> places) {
  places.push_back(longest);
  return [=](const json& answer) {
    const Figure figures = product(1.0, places)(answer);
    const json& ratio = answer.at("question").at("range_ratio").at("value");
    const double shortest = ratio.is_string() ? std::stod(ratio.get<std::string>()) : 1.0;
    if (!figures) return Figure();
    return at(answer, longest) == 1.0 ? figures : Figure(*figures * (1 + shortest) / 2);  // no text has less
  };
}

inline auto figure(const char* place) { return product(1.0, {place}); }

/// Of a member of each in a list; nothing where the list is empty or its parts are not told apart.
inline auto summed(const char* list, const char* member) {
  return [=](const json& answer) {
    const json* all = find(answer, list);
    if (all == nullptr || all->empty()) return Figure();
    double total = 0;
    for (const json& each : *all) total += each.at(member).get<double>();
    return total > 0 ? Figure(total) : Figure();
  };
}

/// The member of the one in a list that is called as it says elsewhere.
inline auto of_that(const char* list, const char* name, const char* said, const char* member) {
  return [=](const json& answer) {
    for (const json& each : *find(answer, list)) {
      if (each.at(name) == *find(answer, said)) return at(each, member);
    }
    return Figure();
  };
}

/// The largest of a member of each in a list.
inline auto highest(const char* list, const char* member) {
  return [=](const json& answer) {
    const json* all = find(answer, list);
    Figure most;
    for (const json& each : all == nullptr ? json::array() : *all) {
      most = std::max(most.value_or(0.0), each.at(member).get<double>());
    }
    return most;
  };
}

/// How far the parts of a moment are from it, of the one where they are furthest.
inline Figure apart(const json& answer) {
  double most = 0;
  for (const json& point : answer.at("memory").at("timeline")) {
    double left = point.at("allocated_bytes").get<double>();
    for (const auto& part : point.at("held_bytes")) left -= part.get<double>();
    most = std::max(most, std::abs(left));
  }
  return most;
}

/// A figure and a share of it, above or below.
inline auto with_share(const char* place, double sign, const char* share) {
  return [=](const json& answer) {
    const Figure whole = at(answer, place), part = at(answer, share);
    return whole && part ? Figure(*whole * (1 + sign * *part)) : Figure();
  };
}

/// A product with the accelerators of the question.
inline auto of_all_gpus(std::vector<const char*> places) {
  return [=](const json& answer) {
    const Figure one = product(1.0, places)(answer);
    return one ? Figure(*one * term(answer, "gpus")) : Figure();
  };
}

/// Both sides together.
inline auto plus(std::function<Figure(const json&)> one, std::function<Figure(const json&)> other) {
  return [=](const json& answer) {
    const Figure first = one(answer), second = other(answer);
    return first && second ? Figure(*first + *second) : Figure();
  };
}

/// The rule where something is the case.
inline auto where(bool (*holds)(const json&), std::function<Figure(const json&)> side) {
  return [=](const json& answer) { return holds(answer) ? side(answer) : Figure(); };
}

const std::vector<Rule>& of_servers();

}  // namespace llmcalc::test
