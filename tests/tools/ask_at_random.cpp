// ask_at_random VERB COUNT SEED [SCHEMA]: asks questions drawn from the vocabulary itself, and holds each answer to
// what is promised of all of them. Prints how many were answered and refused, and every broken promise with the command
// that breaks it; exit code 1 when there is one. The same seed draws the same questions on every machine.
#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "llmcalc/llmcalc.h"
#include "llmcalc/llmcalc.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "read/vocabulary.hpp"
#include "render/inner/page.hpp"
#include "render/understood.hpp"
#include "tools/figures.hpp"
#include "tools/relations.hpp"
#include "tools/schema.hpp"
#include "tools/written_out.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// What people would put where a value is no word of a list, by how the vocabulary describes the value.
struct Kind {
  std::string_view described;  ///< the beginning
  std::vector<std::string_view> values;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"integer or all", {"0", "1", "7", "20", "all"}},
      {"integer", {"0", "1", "1", "2", "2", "3", "4", "8", "16", "32", "64", "100", "1000", "4096"}},
      {"number from 1 to 100", {"1", "1.5", "10"}},
      {"number, as 7B", {"1e9", "7B", "70B", "350M", "1.8T", "3"}},
      {"number", {"0.5", "1", "2.5", "10", "100", "12345"}},
      {"positions", {"1", "128", "2k", "4096", "32k", "1M"}},
      {"size", {"1GiB", "8GiB", "80GB", "550MiB", "0", "2TiB"}},
      {"rate", {"2TB/s", "312TFLOP/s", "1e12"}},
      {"bandwidth", {"10GB/s", "1TB/s"}},
      {"duration", {"30ms", "1s", "30min", "2h", "30d"}},
      {"hours", {"10", "50000", "none"}},
      {"tokens", {"4M", "15T", "20x", "100B", "1"}},
      {"0..1 or percent", {"0", "0.1", "0.5", "90%", "1"}},
      {"0|1", {"0", "1"}},
      {"dollars", {"0", "2", "1e6"}},
      {"watts", {"100", "700"}},
      {"g/kWh", {"400", "world"}},
      {"nats", {"1.9", "3"}},
      {"FLOP", {"1e21", "1000PFLOP-days"}},
      {"times", {"2", "10"}},
      {"list of q", {"q,v", "all-linear", "q,k,v,o", "gate,up,down", "embed,head", "q"}},
      {"list of core_attn", {"core_attn", "mlp,moe", "layernorm"}},
      {"transformers", {"transformers 4.56", "torch 2.8", "2025-09"}},
      {"max, first", {"max", "first", "last", "pp=1"}},
      {"1024x768", {"1024x768", "224x224"}},
      {"context,concurrency", {"context,concurrency"}},
  };
  return all;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  template <class List>
  const auto& one_of(const List& list) {
    return std::data(list)[below(std::size(list))];
  }

  /// A value of that description; empty where no kind has it, as names of files.
  std::string value(std::string_view described) {
    const auto kind =
        std::ranges::find_if(kinds(), [&](const Kind& each) { return described.starts_with(each.described); });
    if (kind != kinds().end()) return std::string(one_of(kind->values));
    if (described.find('|') == std::string_view::npos) return {};
    return std::string(one_of(quantity::pieces_of(described, "|")));
  }

 private:
  std::mt19937_64 random_;
};

/// Options that a question may draw, with how their values are described.
struct Option {
  std::string name, values;
};

/// All that the verb is told, but for the model, and for what shows more of the same answer.
std::vector<Option> options_of(std::string_view verb) {
  constexpr std::string_view shown[] = {"full",          "explain", "timeline", "unit", "table",
                                        "show-question", "write",   "force",    "serve"};
  std::vector<Option> options;
  for (const auto& flag : api::own_flags(api::find_verb(verb))) {
    const bool is_asked = flag.group != "Model" && !quantity::contains(shown, flag.name);
    if (is_asked) options.push_back({flag.name, flag.is_switch() ? "true|true" : flag.values});
  }
  return options;
}

class Asker {
 public:
  Asker(std::string verb, std::uint64_t seed) : verb_(std::move(verb)), draw_(seed), options_(options_of(verb_)) {
    for (const auto& model : catalogue_.models()) models_.push_back(model.id);
    for (const auto& gpu : catalogue_.accelerators()) gpus_.push_back(gpu.accelerator.id);
  }

  std::vector<Word> question() {
    std::vector<Word> words;
    if (verb_ == "scale") {
      // nothing is known of the run but what its options say
    } else if (draw_.below(5) == 0) {
      words.push_back({"params", draw_.value("number, as 7B")});
    } else {
      words.push_back({"model", draw_.one_of(models_)});
    }
    if (draw_.below(10) != 0) {
      constexpr std::string_view counts[] = {"", "", ":2", ":8", ":8", ":64", ":3"};
      std::string cards = draw_.one_of(gpus_);
      cards += draw_.one_of(counts);  // in a line of its own, so that every compiler draws it after the card
      words.push_back({"gpu", cards});
    }
    for (std::size_t more = draw_.below(5); more > 0; --more) {
      const Option& option = draw_.one_of(options_);
      const auto value = draw_.value(option.values);
      const bool is_new = std::ranges::find(words, option.name, &Word::term) == words.end();
      if (is_new && !value.empty()) words.push_back({option.name, value});
    }
    return words;
  }

 private:
  std::string verb_;
  Draw draw_;
  read::Catalogue catalogue_;
  std::vector<Option> options_;
  std::vector<std::string> models_, gpus_;
};

/// Every number that is less than nothing, but for what is a difference.
void find_negative(const json& value, const std::string& place, std::vector<std::string>& broken) {
  const bool is_difference = place.ends_with("/headroom_bytes") || place.ends_with("/pool_bytes");
  if (value.is_number() && value.get<double>() < 0 && !is_difference) broken.push_back(place + " is " + value.dump());
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) find_negative(member, place + '/' + key, broken);
}

std::int64_t summed(const json& ledger) {
  std::int64_t sum = 0;
  for (const auto& line : ledger) sum += line.at("bytes").get<std::int64_t>();
  return sum;
}

/// What keeps a run or server from being as it was asked beside its memory.
bool breaks_limits(const json& answer) { return answer.contains("broken_limits") && !answer["broken_limits"].empty(); }

/// The first word or words of the screen, by the verdict of the answer.
std::string_view headline(const json& answer) {
  const auto verdict = answer.value("verdict", std::string());
  if (verdict != "does_not_fit" && breaks_limits(answer)) return "OVER LIMIT";
  if (verdict == "fits") return "FITS";
  if (verdict == "tight") return "TIGHT";
  if (verdict == "does_not_fit") return "DOES NOT FIT";
  return "";
}

/// A run or server that does not fit, one that keeps no limit, a search that found nothing.
bool fails(const json& answer) {
  if (answer.contains("best")) return answer["best"].empty();
  if (answer.contains("limits") && answer["limits"].at("kept") == json(false)) return true;
  return answer.value("verdict", std::string()) == "does_not_fit" || breaks_limits(answer);
}

std::string of_c(const std::string& verb, const std::vector<Word>& words) {
  json question = json::object();
  for (const auto& word : words) question[word.term] = word.text;
  char* answer = nullptr;
  llmcalc_ask(verb.c_str(), question.dump().c_str(), &answer);
  const std::string text = answer == nullptr ? "" : answer;
  llmcalc_free(answer);
  return text;
}

/// Exit code and answer of the command line; of what it refuses the error, as it is printed for JSON.
cli::Outcome typed(const std::string& verb, const std::vector<Word>& words) {
  std::vector<std::string> line{verb, "--format", "json"};
  for (const auto& word : words) {
    line.push_back("--" + word.term);
    if (word.text != "true") line.push_back(word.text);  // of a switch
  }
  try {
    return cli::run(line, cli::Environment{});
  } catch (const quantity::BadInput& error) {
    return {.answer = render::to_json(error, version()), .code = ExitCode::bad_question};
  }
}

/// The figure that stands behind "needs", in the unit that stands behind it and what there is.
void check_needed(const std::string& text, const json& answer, std::vector<std::string>& broken) {
  constexpr std::string_view needs = "needs ", prefixes = "KMGTPE";
  const auto at = text.find(needs);
  const auto unit = text.find("iB", at);
  if (at == std::string::npos || unit == std::string::npos || !answer.contains("needed_bytes")) return;
  const double shown = std::strtod(text.c_str() + at + needs.size(), nullptr);
  const auto power = static_cast<double>(prefixes.find(text[unit - 1]) + 1);
  const double said = answer["needed_bytes"].get<double>() / std::pow(1024.0, power);
  if (std::abs(shown - said) > 0.0051) {  // two places
    broken.push_back("the screen needs " + std::to_string(shown) + ", the answer " + std::to_string(said));
  }
}

void check_screen(const std::string& text, const json& answer, std::vector<std::string>& broken) {
  check_needed(text, answer, broken);
  const auto lines = render::lines_of(text);
  if (lines.size() > 22) broken.push_back(std::to_string(lines.size()) + " lines");
  for (const auto& line : lines) {
    if (render::display_width(line) > 80) broken.push_back("a wide line: " + line);
  }
  if (!text.starts_with(headline(answer))) broken.push_back("the verdict of the screen is " + lines.front());
}

/// Where an answer leaves the expected one, with what stands around there.
std::string apart(const std::string& answer, const std::string& expected) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(answer, expected).in1 - answer.begin());
  const auto from = at - std::min<std::size_t>(at, 60);
  return ": " + answer.substr(from, 120) + " instead of " + expected.substr(from, 120);
}

/// C and the command line answer as C++ does. Each takes as long as the answer itself, so that a question asks one of
/// them.
void check_doors(const std::string& verb, const std::vector<Word>& words, const std::string& expected, ExitCode code,
                 std::vector<std::string>& broken) {
  if (words.size() % 2 == 0) {
    const auto answer = of_c(verb, words);
    if (answer != expected) broken.push_back("the C interface answers otherwise" + apart(answer, expected));
    return;
  }
  const auto outcome = typed(verb, words);
  if (outcome.answer != expected)
    broken.push_back("the command line answers otherwise" + apart(outcome.answer, expected));
  if (outcome.code != code) broken.emplace_back("the command line has another exit code");
}

/// The promises that an answer breaks.
std::vector<std::string> broken_by(const std::string& verb, const std::vector<Word>& words, const Reply& reply,
                                   const json& schema) {
  const std::string shown = to_json(reply);
  const json answer = json::parse(shown);
  std::vector<std::string> broken;
  if (!schema.is_null()) broken = test::schema_errors(schema, answer);
  find_negative(answer, "", broken);
  quantity::append(broken, test::disagreements(verb, answer));
  quantity::append(broken, test::wrongly_written(answer));
  const bool has_command = verb == "plan" && answer.contains("fit_command") && answer["fit_command"].is_string();
  if (has_command) quantity::append(broken, test::broken_command(answer));
  const bool failed = reply.code == ExitCode::does_not_fit;
  const bool is_strict = std::ranges::find(words, "strict", &Word::term) != words.end();  // to what waits or is tight
  if (fails(answer) != failed && !(is_strict && failed)) broken.emplace_back("the exit code is not the verdict");
  if (answer.contains("memory") && answer["memory"].contains("ledger")) {
    const auto sum = summed(answer["memory"]["ledger"]);
    if (const auto peak = answer["memory"].value("peak_needed_bytes", sum); sum != peak) {
      broken.push_back("the ledger adds up to " + std::to_string(sum) + ", the peak is " + std::to_string(peak));
    }
  }
  if (verb == "fit" || verb == "serve") check_screen(to_text(reply), answer, broken);
  check_doors(verb, words, shown, reply.code, broken);
  return broken;
}

/// Not what a verb is told beside its question, as how many days a run may take.
bool is_of_question(std::string_view option) {
  const auto has = [&](const auto& words) {
    return std::ranges::any_of(words, [&](const auto& each) { return read::option_name(each.name) == option; });
  };
  return has(read::vocabulary()) || has(read::serving_vocabulary()) || has(read::shorthands());
}

std::string command_of(const std::string& verb, const std::vector<Word>& words) {
  std::string line = "llmcalc " + verb;
  for (const auto& word : words) line += " --" + word.term + " '" + word.text + "'";
  return line;
}

json load(const char* path) {
  std::ifstream stream(path);
  return json::parse(stream);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: ask_at_random VERB COUNT SEED [SCHEMA]\n";
    return 2;
  }
  const std::string verb = argv[1];
  Asker asker(verb, std::strtoull(argv[3], nullptr, 10));
  const json schema = argc > 4 ? load(argv[4]) : json();
  int answered = 0, refused = 0, faults = 0;
  for (long left = std::strtol(argv[2], nullptr, 10); left > 0; --left) {
    const auto words = asker.question();
    std::vector<std::string> broken;
    try {
      broken = broken_by(verb, words, ask(verb, words), schema);
      const bool is_question = std::ranges::all_of(words, [](const Word& word) { return is_of_question(word.term); });
      const bool asks_neighbours = is_question && (verb != "serve" || answered % 4 == 0);  // three more servers each
      if (asks_neighbours) quantity::append(broken, test::broken_relations(verb, words));
      ++answered;
    } catch (const quantity::BadInput& error) {
      const auto shown = render::to_json(error, version());
      check_doors(verb, words, shown, ExitCode::bad_question, broken);
      quantity::append(broken, test::wrongly_written(json::parse(shown)));
      ++refused;
    } catch (const std::exception& error) {
      broken.push_back(std::string("it ends with: ") + error.what());
    }
    if (broken.empty()) continue;
    ++faults;
    std::cout << command_of(verb, words) << '\n';
    for (std::size_t i = 0; i < std::min<std::size_t>(broken.size(), 4); ++i) std::cout << "    " << broken[i] << '\n';
  }
  std::cout << verb << ": " << answered << " answered, " << refused << " refused, " << faults << " break a promise\n";
  return faults == 0 && answered > 0 ? 0 : 1;
}
