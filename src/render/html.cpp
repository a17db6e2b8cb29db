// Pages for browsers: what all of them share.
#include "render/inner/html.hpp"

#include "quantity/lists.hpp"
#include "render/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {

Html& Html::open(std::string_view tag) {
  text_.append("<").append(tag).append(">");
  open_.emplace_back(tag.substr(0, tag.find(' ')));
  return *this;
}

Html& Html::close() {
  text_.append("</").append(open_.back()).append(">");
  open_.pop_back();
  return *this;
}

Html& Html::text(std::string_view text) { return ours(shown(text, Medium::xml)); }

Html& Html::lines(std::string_view text) {
  for (const auto& line : lines_of(text)) this->text(line).ours("\n");
  return *this;
}

Html& Html::ours(std::string_view markup) {
  text_ += markup;
  return *this;
}

Html& Html::element(std::string_view tag, std::string_view text) { return open(tag).text(text).close(); }

Html& Html::row(std::string_view tag, const std::vector<std::string>& cells, Cells kind) {
  const auto of_number = std::string(tag) + " class=\"n\"";
  open("tr");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    element(i > 0 && kind == Cells::numbers ? std::string_view(of_number) : tag, cells[i]);
  }
  return close().ours("\n");
}

namespace {

// Text on its ground has a contrast of 7 : 1 at least, what is drawn 3 : 1 in light and dark (WCAG 2.2, 1.4.6 and
// 1.4.11; scripts/check-pages measures both). A colour for each memory::Holding.
constexpr std::string_view page_style = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#4b535d;--line:#d0d7de;--good:#116329;--caution:#7d4e00;--bad:#a40e26}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9da7b3;--line:#30363d;--good:#56d364;--caution:#e3b341;--bad:#ff9a91}}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.3;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
.good{color:var(--good)}.caution{color:var(--caution)}.bad{color:var(--bad)}.dim,footer,caption,figcaption{color:var(--dim)}
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
code>span{display:inline-block}@media(max-width:40rem){.wide{font-size:.9rem}.changes tr{display:grid;grid-template-columns:1fr auto auto;border-bottom:1px solid var(--line)}.changes tr>*{border:0}.changes td:first-child{display:contents}.changes .dim{grid-area:2/1/auto/-1}}
details p{margin:.2rem 0}summary{cursor:pointer}pre{overflow-x:auto;font-size:.85rem;white-space:pre}figure{margin:0}
.wide{overflow-x:auto}.wide td:first-child,.wide th:first-child{overflow-wrap:break-word}.bar,.phases{display:flex;margin:.5rem 0;border-radius:3px;overflow:hidden;background:var(--line);position:relative}
.bar{height:1.6rem}.bar b{position:absolute;top:0;bottom:0;width:3px;background:var(--fg)}.phases span{display:flex;flex-wrap:wrap;height:1.5em;overflow:hidden;border-left:1px solid var(--bg);padding:0 .2rem;font-size:.85rem;box-sizing:border-box;white-space:nowrap}.phases span::before{content:"";height:100%}
.picture{position:relative;height:16rem;border-bottom:1px solid var(--fg)}.picture svg{width:100%;height:100%;display:block}
.picture i{position:absolute;left:0;right:0;border-top:2px dashed var(--fg)}.dot{position:absolute;width:.7rem;height:.7rem;border-radius:50%}.picture em{position:absolute;right:0;background:var(--bg);padding:0 .3rem;font-style:normal;font-size:.85rem}
ul.key{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}td>u{float:left;margin:.4rem .4rem 0 0}pre.command{white-space:pre-wrap}u{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem;text-decoration:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}@media print{details::details-content{display:block;content-visibility:visible}h2{break-after:avoid}tr{break-inside:avoid}}
)";

constexpr std::string_view colours_of_holdings[] = {
    "#3b6fd4", "#6a5acd", "#c2571a", "#8250df", "#0f8a8a", "#5b7fa6", "#7d6bb0", "#a0509a", "#2a8a45", "#b07d00",
    "#d1424c", "#8c6d5a", "#6e7781", "#a0509a", "#6e7781", "#b07d00", "#0f8a8a", "#5f7a86", "#6e7781"};
static_assert(std::size(colours_of_holdings) == static_cast<std::size_t>(memory::Holding::calibration) + 1);

}  // namespace

std::size_t colour_of(memory::Holding holding) { return static_cast<std::size_t>(holding); }

std::string holding_styles() {
  std::string styles;
  for (std::size_t i = 0; i < std::size(colours_of_holdings); ++i) {
    styles += fmt::format(".h{0}{{fill:{1};background:{1}}}", i, colours_of_holdings[i]);
  }
  return styles;
}

std::string html_page(std::string_view title, std::string_view version, const std::function<void(Html&)>& body) {
  Html html;
  html.ours("<!DOCTYPE html>\n").open("html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"").open("head");
  html.ours("<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>");
  html.ours("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline'\"/>");
  html.element("title", title).open("style").ours(page_style).ours(holding_styles()).close().close().ours("\n");
  html.open("body");
  body(html);
  html.open("footer").element("p", "llmcalc " + std::string(version)).close().close().close();
  return html.take() + "\n";
}

void add_change(Html& html, std::string_view options, std::string_view why) {
  html.open("td").open("code");
  while (!options.empty()) {
    const std::size_t end = options.find(" --");
    html.element("span", options.substr(0, end));
    options.remove_prefix(std::min(end, options.size()));
    html.text(options.substr(0, 1));
    options.remove_prefix(options.empty() ? 0 : 1);
  }
  html.close().element("div class=\"dim\"", why).close();
}

void add_list(Html& html, std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return;
  html.element("h2", heading).open("ul");
  for (const auto& item : items) html.element("li", item);
  html.close().ours("\n");
}

void add_folded(Html& html, std::string_view summary, std::string_view text) {
  html.open("details").element("summary", summary).open("pre tabindex=\"0\"").lines(text).close().close().ours("\n");
}

void add_why(Html& html, std::string_view label, const answer::Explanation& why) {
  if (why.formula.empty()) {
    html.text(label);
    return;
  }
  html.open("details").element("summary", label);
  for (const auto& text : {why.formula, "= " + why.numbers, "source: " + why.source})
    html.element("p class=\"dim\"", text);
  html.close();
}

namespace {

void add_terms(Html& html, const std::vector<spec::Word>& terms) {
  html.open_table({"option", "value", "said by"}, "table", Cells::texts);
  for (const auto& line : terms) {
    const auto& where = line.origin.where;
    std::string by(line.text.empty() ? std::string_view() : word_of(line.origin.source));
    if (!where.empty() && where != by) by.append(": ").append(where);
    html.row("td", {line.term, line.text, by}, Cells::texts);
  }
  html.close().close();
}

}  // namespace

void add_question(Html& html, const std::vector<spec::Word>& question) {
  const auto is_said = [](const spec::Word& line) {
    using spec::Source;
    const auto source = line.origin.source;
    return !line.text.empty() && (source == Source::flag || source == Source::file || source == Source::row);
  };
  html.element("h2", "Question");
  add_terms(html, quantity::mapped_if(question, std::identity(), is_said));
  html.open("details").element("summary", fmt::format("all {} options, with who said each", question.size()));
  add_terms(html, question);
  html.close().ours("\n");
}

void add_bar(Html& html, const std::vector<BarPart>& parts, quantity::Bytes whole, std::string_view said) {
  const auto sum = quantity::sum_of(parts, &BarPart::size);
  const auto full = std::max(sum, whole);
  if (full <= quantity::Bytes{}) return;
  html.open("div class=\"bar\" role=\"img\" aria-label=\"" + shown(said, Medium::xml) + "\"");
  for (const auto& [colour, label, size] : parts) {
    html.open(fmt::format("span class=\"h{}\" style=\"width:{:.2f}%\" title=\"{}\"", colour, 100 * (size / full),
                          shown(label, Medium::xml)))
        .close();
  }
  if (whole > quantity::Bytes{} && whole < sum) {
    html.open(fmt::format("b style=\"left:{:.2f}%\"", 100 * (whole / full))).close();
  }
  html.close().ours("\n");
}

}  // namespace llmcalc::render
