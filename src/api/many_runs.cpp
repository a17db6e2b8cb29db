#include "api/inner/many_runs.hpp"

#include "api/verbs.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/rows.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;
using read::Given;

constexpr std::array<std::string_view, 5> run_forms{"text", "json", "markdown", "csv", "junit"};

constexpr std::array<std::string_view, 3> model_sources{"model", "config", "params"};

bool is_model_source(const std::string& term) { return quantity::contains(model_sources, term); }

/// Takes the place of what was said of the same; one model that of another.
void put(std::vector<Given>& words, Given word) {
  const bool is_source = is_model_source(word.term);
  const auto replaces = [&](const Given& other) { return is_source && is_model_source(other.term); };
  std::erase_if(words, [&](const Given& other) { return other.term == word.term || replaces(other); });
  words.push_back(std::move(word));
}

/// A question for each accelerator of "a100,h100:8,4090".
std::vector<NamedRun> for_each_gpu(const std::vector<Given>& words) {
  const auto* list = read::find_word(words, "gpu");
  if (list == nullptr) return {{"run", words}};
  std::vector<NamedRun> asked;
  std::string_view rest = list->text;
  while (true) {
    const auto end = std::min(rest.find(','), rest.size());
    const std::string name(quantity::trim(rest.substr(0, end)));
    if (name.empty()) throw BadInput("--gpu", "has nothing between two commas");
    asked.push_back({name, words});
    put(asked.back().words, {"gpu", name, list->origin});
    if (end == rest.size()) return asked;
    rest.remove_prefix(end + 1);
  }
}

/// Words that can be said as they stand: some vocabularies have patterns among theirs ("every-N").
std::vector<std::string> plain_words(const read::Term& term, const std::vector<std::string_view>& words,
                                     const spec::Question& question) {
  const auto is_plain = [&](std::string_view word) {
    try {
      auto tried = question;
      if (term.apply != nullptr) term.apply(tried, word, {});
      return true;
    } catch (const BadInput&) {
      return false;
    }
  };
  return quantity::mapped_if(
      words, [](std::string_view word) { return std::string(word); }, is_plain);
}

/// Values that a term is tried at around its value of now: half and double, and again; every word of a closed
/// vocabulary.
std::vector<std::string> tried_around(const read::Term& term, const spec::Question& question, const std::string& now) {
  if (term.words != nullptr) return plain_words(term, term.words(), question);
  if (term.values.find('|') != term.values.npos) {
    return plain_words(term, quantity::pieces_of(term.values, "|"), question);
  }
  const auto place = spec::option_of(term.name);
  constexpr std::int64_t factors[] = {4, 2};
  std::vector<std::string> tried;
  const auto value = quantity::parse_count(now, place);
  for (const auto factor : factors) {
    if (value % factor == 0) tried.push_back(std::to_string(value / factor));
  }
  tried.push_back(now);
  for (const std::int64_t factor : {2, 4}) tried.push_back(std::to_string(quantity::checked_multiply(value, factor)));
  return tried;
}

/// A question for each value of each term, all else as it was asked.
std::vector<NamedRun> for_each_value(const std::string& axes, const std::vector<Given>& words,
                                     const spec::Question& question) {
  std::vector<NamedRun> asked;
  for (const auto name : quantity::pieces_of(axes, ",")) {
    const auto* term = read::find_term(name);
    if (term == nullptr) {
      throw BadInput(
          "--sweep", "there is no term '" + std::string(name) + "'",
          quantity::did_you_mean(name, read::all_term_names(), "terms are options without their dashes, as seq"));
    }
    const auto now = term->show(question);
    for (auto& value : tried_around(*term, question, now)) {
      const auto mark = value == now ? " (as asked)" : "";
      asked.push_back({spec::option_of(term->name) + " " + value + mark, words});
      put(asked.back().words, {std::string(term->name), value, {read::Source::flag, "--sweep"}});
    }
  }
  return asked;
}

render::RunLine without_answer(const NamedRun& asked, std::string why) {
  render::RunLine line;
  line.name = asked.name;
  line.error = std::move(why);
  return line;
}

/// A question without an answer is a line too; the others are answered.
/// \param needs_verdict  without an accelerator there is none, and a script that wants one has no answer
render::RunLine line_of(const NamedRun& asked, const std::function<render::RunLine(const NamedRun&)>& answer,
                        bool needs_verdict) {
  try {
    auto line = answer(asked);
    if (needs_verdict && line.verdict->kind == trust::VerdictKind::no_accelerator) refuse_no_verdict();
    line.name = asked.name;
    return line;
  } catch (const BadInput& error) {
    return without_answer(asked, error.what());
  } catch (const quantity::Overflow& error) {
    return without_answer(asked, error.what());
  }
}

std::string show(const render::Runs& runs, std::string_view format) {
  if (format == "json") return to_json(runs);
  if (format == "csv") return to_csv(runs);
  if (format == "markdown") return to_markdown(runs);
  return format == "junit" ? to_junit(runs) : to_text(runs);
}

ManyRuns listed(std::vector<NamedRun> all) {
  const auto count = all.size();
  return {count, [all = std::move(all), at = std::size_t{0}]() mutable { return std::move(all[at++]); }};
}

/// The stream that lines go to, and the exit code that they come to.
class Told {
 public:
  Told(const Arguments& arguments, const Surroundings& around) : out_(around.out) {
    const auto form = arguments.choice("format", run_forms);
    runs_.strict = arguments.has("strict");
    runs_.version = version();
    const bool is_whole = arguments.has("quiet") || arguments.has("baseline") || !out_;
    if (!is_whole && render::RunPieces::has(form)) pieces_.emplace(form, runs_);
  }

  bool strict() const { return runs_.strict; }

  void add(render::RunLine line) {
    has_failed_ = has_failed_ || fails(line, runs_.strict);
    lacks_answer_ = lacks_answer_ || !line.verdict;
    if (pieces_) {
      out_(pieces_->next(line));
    } else {
      runs_.lines.push_back(std::move(line));
    }
  }

  Reply reply() {
    Reply reply;
    if (has_failed_) reply.code = ExitCode::does_not_fit;
    if (lacks_answer_) reply.code = ExitCode::bad_question;
    if (pieces_) {
      reply.show = [end = pieces_->end()](std::string_view) { return end; };
    } else {
      reply.show = [runs = std::move(runs_)](std::string_view form) { return show(runs, form); };
    }
    return reply;
  }

 private:
  const std::function<void(std::string_view)>& out_;
  render::Runs runs_;
  std::optional<render::RunPieces> pieces_;
  bool has_failed_ = false;
  bool lacks_answer_ = false;
};

}  // namespace

std::optional<read::ConfigText> NamedRun::config(const AskedQuestion& asked, const Surroundings& around) const {
  const auto* named = read::find_word(words, "config");
  const bool is_same = named != nullptr && named->origin.source != read::Source::row;
  return is_same ? asked.config : config_of(words, around);
}

bool asks_many(const Arguments& arguments, const std::vector<Given>& words,
               std::initializer_list<std::string_view> forms) {
  const auto* gpu = read::find_word(words, "gpu");
  const bool several = gpu != nullptr && gpu->text.find(',') != std::string::npos;
  const auto* form = arguments.find("format");
  const bool has_line_each = form != nullptr && quantity::contains(forms, *form);
  return several || arguments.has("rows") || arguments.has("sweep") || has_line_each;
}

ManyRuns runs_of_rows(const std::string& path, const std::vector<Given>& words, const Surroundings& around) {
  const auto rows = std::make_shared<read::RunRows>(around.text(path, "--rows"), path);
  return {rows->count(), [rows, words] {
            auto row = rows->next();
            NamedRun run{std::move(row.name), words};
            for (auto& word : row.words) put(run.words, std::move(word));
            return run;
          }};
}

ManyRuns runs_of(const Arguments& arguments, const std::vector<Given>& words, const Surroundings& around,
                 const std::function<spec::Question()>& asked) {
  const auto* rows = arguments.find("rows");
  const auto* axes = arguments.find("sweep");
  if (rows != nullptr && axes != nullptr) throw BadInput("--sweep", "varies one question, and --rows asks many");
  if (rows != nullptr) return runs_of_rows(*rows, words, around);
  return listed(axes == nullptr ? for_each_gpu(words) : for_each_value(*axes, words, asked()));
}

Reply answer_each(const Arguments& arguments, const ManyRuns& asked, const Surroundings& around,
                  const std::function<render::RunLine(const NamedRun&)>& answer) {
  Told told(arguments, around);
  const bool needs_verdict = told.strict() || arguments.has("quiet");
  const auto answer_all = [&](const GoesOn& goes_on) {
    for (std::size_t n = 0; n < asked.count; ++n) {
      const NamedRun run = asked.next();
      const bool goes = goes_on(static_cast<double>(n) / static_cast<double>(asked.count));
      told.add(goes ? line_of(run, answer, needs_verdict) : without_answer(run, "interrupted"));
    }
  };
  around.watch(answer_all, arguments.has("quiet"));
  return told.reply();
}

}  // namespace llmcalc::api
