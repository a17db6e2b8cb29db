// Pages for browsers taken apart, beside the JSON of the same question.
#pragma once

#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::html_law {

using json = nlohmann::ordered_json;

using Words = std::vector<std::string>;

/// A cell of a table: its text without what is folded, and what stands small under it.
struct Cell {
  std::string text;
  std::string small;
};
using Row = std::vector<Cell>;

/// A bar: widths of its parts in percent, and where its mark stands.
struct Bar {
  std::vector<double> widths;
  std::optional<double> mark;
};

struct Section {
  std::vector<Row> rows;  ///< the head first
  std::vector<Bar> bars;
};

/// Names of HTML and of SVG within it (html.spec.whatwg.org, section 4; w3.org/TR/SVG2, appendix F).
inline bool is_element(std::string_view name) {
  constexpr std::string_view names[] = {
      "body",    "main",    "header", "footer", "section", "h1",    "h2", "p",      "div",       "span",
      "b",       "code",    "pre",    "table",  "tr",      "th",    "td", "ul",     "li",        "a",
      "details", "summary", "svg",    "path",   "text",    "title", "g",  "rect",   "line",      "small",
      "strong",  "thead",   "tbody",  "html",   "em",      "i",     "u",  "figure", "figcaption"};
  return std::ranges::find(names, name) != std::end(names);
}

/// What a page shows, by its headings; what stands above the first is under "".
class Shown {
 public:
  explicit Shown(std::string_view page) {
    page.remove_prefix(page.find("<body>"));
    for (std::size_t at = 0; at < page.size();) {
      const auto tag = page.find('<', at);
      add_text(page.substr(at, tag - at));
      if (tag == page.npos) break;
      const auto end = page.find('>', tag);
      take(page.substr(tag + 1, end - tag - 1));
      at = end + 1;
    }
  }

  const Section& operator[](const std::string& heading) const {
    static const Section none;
    const auto found = sections_.find(heading);
    return found == sections_.end() ? none : found->second;
  }
  const std::string& headline() const { return headline_; }
  const std::vector<std::string>& areas() const { return areas_; }
  const std::vector<std::pair<double, double>>& dots() const { return dots_; }
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  static double number_after(std::string_view tag, std::string_view mark) {
    const auto at = tag.find(mark);
    REQUIRE(at != tag.npos);
    return std::stod(std::string(tag.substr(at + mark.size(), 12)));
  }

  void take(std::string_view tag) {
    const auto name = tag.substr(0, tag.find(' '));
    if (!is_element(name.substr(name.starts_with('/') ? 1 : 0))) FAIL_CHECK("no element is called " << name);
    Section& section = sections_[heading_];
    if (name == "h2") heading_.clear(), in_heading_ = true;
    if (name == "/h2") in_heading_ = false;
    if (name == "h1") in_headline_ = true;
    if (name == "/h1") in_headline_ = false;
    if (name == "tr") section.rows.emplace_back();
    if (name == "td" || name == "th") section.rows.back().emplace_back(), in_cell_ = true;
    if (name == "/td" || name == "/th") in_cell_ = false;
    if (name == "p") folded_ = true;
    if (name == "/p") folded_ = false;
    if (tag == "div class=\"dim\"") is_small_ = true;
    if (name == "/div") is_small_ = in_bar_ = false;
    if (tag.starts_with("div class=\"bar\"")) section.bars.emplace_back(), in_bar_ = true;
    if (in_bar_ && name == "span") section.bars.back().widths.push_back(number_after(tag, "width:"));
    if (in_bar_ && name == "b") section.bars.back().mark = number_after(tag, "left:");
    if (tag.starts_with("span class=\"dot"))
      dots_.emplace_back(number_after(tag, "left:"), number_after(tag, "bottom:"));
    if (tag.starts_with("span style=\"width:") && !in_bar_) phases_.emplace_back("", number_after(tag, "width:"));
    in_phase_ = tag.starts_with("span style=\"width:") && !in_bar_;
    if (name == "path") {
      const auto begin = tag.find(" d=\"") + 4;
      areas_.emplace_back(tag.substr(begin, tag.find('"', begin) - begin));
    }
  }

  void add_text(std::string_view text) {
    std::string plain(text);
    if (plain == "\n") return;
    for (const auto& [written, meant] :
         {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
      for (auto at = plain.find(written); at != plain.npos; at = plain.find(written, at + 1))
        plain.replace(at, std::string_view(written).size(), meant);
    }
    if (in_heading_) heading_ += plain;
    if (in_headline_) headline_ += plain;
    if (in_phase_) phases_.back().first += plain;
    auto& rows = sections_[heading_].rows;
    if (!in_cell_ || folded_ || rows.empty() || rows.back().empty()) return;
    Cell& cell = rows.back().back();
    (is_small_ ? cell.small : cell.text) += plain;
  }

  std::map<std::string, Section> sections_;
  std::string heading_, headline_;
  std::vector<std::string> areas_;
  std::vector<std::pair<double, double>> dots_;
  std::vector<std::pair<std::string, double>> phases_;
  bool in_heading_ = false, in_headline_ = false, in_cell_ = false, folded_ = false, is_small_ = false, in_bar_ = false,
       in_phase_ = false;
};

struct Both {
  json answer;
  Shown page;
};

/// Nothing where the question has no answer.
inline std::optional<Both> asked(const Words& words) {
  const auto in = [&](const char* form) {
    auto all = words;
    all.insert(all.end(), {"--format", form});
    return cli::run(all, cli::Environment{}).answer;
  };
  try {
    return Both{json::parse(in("json")), Shown(in("html"))};
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

inline double bytes(const json& value) { return value.get<double>(); }

/// A size in the unit that the head of its column names.
inline std::string sized(const json& size, const std::string& head) {
  constexpr std::string_view prefixes = "KMGTPE";
  const auto power = static_cast<double>(prefixes.find(head.at(head.size() - 3)) + 1);
  return fmt::format("{:.2f}", bytes(size) / std::pow(1024.0, power));
}

inline std::string time_of(const json& seconds) {
  return quantity::format_duration(quantity::seconds(seconds.get<double>()));
}

inline std::string share_of(double share) {
  return share > 0 && share <= 0.005 ? "<1 %" : fmt::format("{:.0f} %", 100.0 * share);
}

inline std::vector<std::string> texts_of(const Row& row) { return quantity::mapped(row, &Cell::text); }

inline void check_rows(const Section& section, const std::vector<Words>& expected) {
  REQUIRE(section.rows.size() == expected.size() + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(texts_of(section.rows[i + 1]) == expected[i]);
}

/// Parts over the larger of their sum and the whole, which is marked where they go beyond it.
inline void check_bar(const Bar& bar, const std::vector<double>& parts, double whole) {
  double sum = 0.0;
  for (const double part : parts) sum += part;
  REQUIRE(bar.widths.size() == parts.size());
  const double full = std::max(sum, whole);
  for (std::size_t i = 0; i < parts.size(); ++i) CHECK(std::abs(bar.widths[i] - 100.0 * parts[i] / full) <= 0.0051);
  CHECK(bar.mark.has_value() == (whole > 0.0 && whole < sum));
  if (bar.mark) CHECK(std::abs(*bar.mark - 100.0 * whole / full) <= 0.0051);
}

inline std::vector<double> sizes_of(const json& list, const char* key) {
  return quantity::mapped(list, [&](const json& line) { return std::max(bytes(line.at(key)), 0.0); });
}

/// Under "Question" stands what somebody said, and then each option with who said it.
inline void check_question(const Both& both) {
  std::vector<Words> said{{"option", "value", "said by"}}, all = said;
  for (const auto& [term, word] : both.answer.at("question").items()) {
    const auto text = [](const json& member) { return member.is_null() ? std::string() : member.get<std::string>(); };
    const std::string value = text(word.at("value")), origin = text(word.at("origin"));
    const bool is_said = origin == "flag" || origin == "file" || origin == "row";
    const std::string where = text(word.at("where"));
    if (is_said && !value.empty()) said.push_back({term, value, where});
    all.push_back({term, value, where});
  }
  quantity::append(said, all);
  const auto& rows = both.page["Question"].rows;
  REQUIRE(rows.size() == said.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at(0).text == said[i].at(0));
    CHECK(rows[i].at(1).text == said[i].at(1));
    const auto &by = rows[i].at(2).text, &where = said[i].at(2);
    CHECK(by.ends_with(where));
    if (!where.empty()) CHECK(by != where + ": " + where);
  }
}

}  // namespace llmcalc::html_law
