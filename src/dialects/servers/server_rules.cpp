#include "dialects/servers/server_rules.hpp"

#include "dialects/core/letter.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace llmcalc::dialects {
namespace {

/// Types that make weights larger than they are published. Those of 16 bits are the type of what a quantized checkpoint
/// leaves whole, and of all in another: no size follows (vllm/config/model.py, dtype).
constexpr Spelling weight_types[] = {{"float32", "f32"}, {"float", "f32"}};

double factor_of(char suffix) {
  constexpr double kilo = 1e3;
  constexpr double kibi = 1024;
  switch (suffix) {
    case 'k': return kilo;
    case 'm': return kilo * kilo;
    case 'g': return kilo * kilo * kilo;
    case 'K': return kibi;
    case 'M': return kibi * kibi;
    case 'G': return kibi * kibi * kibi;
    default: return 0;
  }
}

using formats::Quant;
using serving::EngineOption;
using serving::Says;
using spec::CacheType;

std::optional<std::string> by_itself(const EngineOption& option, const ServerLetter& letter) {
  if (option.says == Says::rule || option.says == Says::part) return std::nullopt;
  const read::Term& term = *read::find_term(option.term);
  const std::string text = term.show(letter.question);
  if (option.says == Says::yes || option.says == Says::no) return if_so(text == (option.says == Says::yes ? "1" : "0"));
  const bool splits_nothing = term.group == read::TermGroup::layout && text == "1";
  std::string value = option.words.empty() ? text : std::string(theirs_for(text, option.words));
  return if_so(!value.empty() && text != "0" && !splits_nothing, value);
}

/// The question with what the engine chose and its command says all the same: how long a context is answered for, and
/// the narrow cache that narrow weights bring, unless a draft of its own would be given it with them. Encoders know how
/// much they read (vllm/config/model.py: what sentence-transformers say bounds it), and of two stacks engines count the
/// decoder's positions, of which nobody was asked (vllm/config/model.py: 448 of Whisper).
spec::Question started(const serving::Deployment& deployment) {
  spec::Question question = deployment.question;
  const spec::Stack stack = question.model.shape.stack;
  const bool encodes_file = stack == spec::Stack::encoder && spec::reads_gguf(question.serving.engine);
  if (stack == spec::Stack::decoder || encodes_file) question.serving.load.context = deployment.setup.context;
  if (encodes_file) question.serving.options.ubatch = deployment.setup.batched_tokens;
  serving::say_placement(deployment, question.serving.options);
  auto& layout = question.serving.layout;
  if (layout.prefill_servers > 0) {  // those that read prompts have a command of their own
    question.layout.gpus =
        quantity::product(question.layout.dp, question.layout.tp, question.layout.pp, layout.attention_dp);
    question.layout.nodes = spec::usual_nodes(question.layout.gpus, spec::accelerators_per_node(question.gpu));
    layout.prefill_servers = 0;
    layout.prefill_tp.reset();
  }
  const bool is_usual = deployment.setup.cache == CacheType::bf16 || deployment.setup.cache == CacheType::f16;
  if (!is_usual && !deployment.draft) question.serving.cache = deployment.setup.cache;
  return question;
}

bool is_in(const serving::EngineRelease& release, const EngineOption& option) {
  const bool begun = option.since.empty() || serving::parse_release(option.since) <= release;
  return begun && (option.until.empty() || release < serving::parse_release(option.until));
}

/// Terms of a server that its checkpoint, its image, its users and its machines say: no option does.
constexpr std::array<std::string_view, 9> of_no_command{"quant",         "engine_version",  "group_size",
                                                        "imatrix",       "accept",          "other_usage",
                                                        "gpus_per_node", "inter_node_gbps", "host_bandwidth"};

bool is_told(const read::Term& term) {
  const bool is_load = term.group == read::TermGroup::load && term.name == "context";
  const bool of_server = term.group == read::TermGroup::engine || term.group == read::TermGroup::layout || is_load;
  return of_server && term.show != nullptr && !quantity::contains(of_no_command, term.name);
}

/// Words beside a command that does not say them, and the model's own name of a draft that it names by a file.
std::vector<Given> beside(const ServerLetter& letter, Reading& reading) {
  std::vector<Given> words;
  const auto add = [&](std::string_view term, std::string text) {
    if (!text.empty()) words.push_back({std::string(term), std::move(text), {Source::flag, std::string(term)}});
  };
  for (const std::string_view term : of_no_command) {
    const bool means_nothing = term == "accept" && !has_word(reading.words, "draft");
    if (!has_word(reading.words, term) && !means_nothing) add(term, letter.text(term));
  }
  const bool has_ranks = has_word(reading.words, "tp") && !spec::reads_gguf(letter.serving().engine);
  if (!has_ranks) add("gpus", letter.text("gpus"));
  for (Given& word : reading.words) {
    const spec::Draft& draft = letter.serving().options.draft;
    const bool is_known = draft.kind == spec::DraftKind::eagle && draft.model.empty();
    const bool by_name = word.term == "draft" && (draft.kind == spec::DraftKind::model || is_known);
    const std::string who = is_known ? eagle_layers({}) : draft.model;
    if (by_name) word.text = who + word.text.substr(std::min(word.text.rfind(':'), word.text.size()));
  }
  add("model", letter.question.model.shape.name);
  if (letter.question.gpu) add("gpu", letter.question.gpu->id);
  return words;
}

/// Reads the command as --from does: the options that it does not say or says otherwise, as typed.
std::vector<std::string> untold(const ServerLetter& letter, const std::string& command) {
  try {
    Reading reading = read_launch_command(command, "command", no_files);
    const auto words = beside(letter, reading);
    const read::Values values{letter.question.model.shape, letter.question.gpu};
    const auto read =
        read::resolve_serving(with_options(reading, words), std::nullopt, read::Catalogue(), values).question;
    std::vector<std::string> terms = reading.unread;
    const auto joins = [&](const EngineOption& option) {
      return option.term == "nodes" && is_in(letter.deployment.setup.release, option);
    };
    const auto& options = serving::row_of(letter.serving().engine).options;
    const bool says_nodes = has_word(reading.words, "nodes") || std::ranges::any_of(options, joins);
    if (letter.question.layout.nodes > 1 && !says_nodes) terms.push_back("--nodes " + letter.text("nodes"));
    for (const read::Term& term : read::serving_vocabulary()) {
      const bool is_own = term.name == "context" && !letter.asks_context() && term.show(read).empty();
      const std::string asked = is_told(term) && !is_own ? letter.text(term.name) : std::string();
      if (asked.empty() || term.show(read) == asked) continue;  // a default that is said aloud changes nothing
      terms.push_back(fmt::format("--{} {}", read::option_name(term.name), asked));
    }
    return terms;
  } catch (const quantity::BadInput& error) {
    return {fmt::format("{}: {}", error.place(), error.problem())};
  }
}

/// How often a command is to be given. Copies that share no experts are servers of their own: one line would spread the
/// experts of a mixture over all ranks, whole or cut (vLLM docs/serving/data_parallel_deployment, "By default, expert
/// layers form a tensor parallel group of size DP x TP").
std::int64_t servers_to_start(const spec::Question& question) {
  const serving::EngineRow& row = serving::row_of(question.serving.engine);
  const bool spreads = question.layout.ep > 1 || (row.spreads_experts && question.model.shape.moe.experts > 0);
  const bool one_line_starts_all = row.starts_copies && !spreads;
  return one_line_starts_all ? 1 : question.layout.dp;
}

/// The first of several servers.
spec::Question one_of(spec::Question question, std::int64_t servers) {
  spec::Layout& layout = question.layout;
  if (servers == 1) return question;
  layout.gpus /= servers;
  layout.dp /= servers;
  layout.nodes = spec::usual_nodes(layout.gpus, spec::accelerators_per_node(question.gpu));
  return question;
}

std::vector<std::string> notes_on(const ServerLetter& letter, const std::string& command) {
  std::vector<std::string> notes;
  const std::string model = served_as(letter).model;
  const auto add = [&](bool holds, std::string note) {
    if (holds) notes.push_back(std::move(note));
  };
  const auto names = [&](const std::string& word) { return command.find(word) != std::string::npos; };
  const auto& [weights, quant] = std::pair(letter.names.weights(), letter.serving().quant);
  const std::string file = gguf_file(letter.names, quant);
  const std::string_view follower = serving::row_of(letter.serving().engine).follower;
  const std::int64_t nodes = letter.question.layout.nodes;
  add(names("$NODE_RANK"),
      fmt::format(
          "the command is typed on each of {} nodes: HEAD is the first one's address, NODE_RANK counts from 0{}", nodes,
          follower.empty() ? "" : fmt::format(", all but the first add {}", follower)));
  add(names("--distributed-executor-backend ray"),
      fmt::format("Ray joins the {} nodes before: ray start --head --port 6379 on the first, then ray start --address "
                  "HEAD:6379 on each other, HEAD the first one's address; the command is typed on the first",
                  nodes));
  add(names("srun "),
      fmt::format("without Slurm mpirun -n {} -N {} --hostfile HOSTS stands in the place of srun and its "
                  "options",
                  letter.question.layout.gpus, letter.question.layout.gpus / nodes));
  add(names("ollama serve"), "a server that runs already is stopped first: the variables are of the one that starts");
  add(model != weights && names(model),
      fmt::format("{} stands for any {} checkpoint of {}", model, spec::name_of(quant), weights));
  add(names("lms load"), "lms get fetches it, lms ls says what is there, lms server start answers requests");
  add(names(file), file + " stands for a file of yours; asked as OWNER/NAME-GGUF it is fetched");
  add(letter.serving().role != spec::ServerRole::both,
      fmt::format("requests go to {}, which knows the servers of both kinds",
                  serving::row_of(letter.serving().engine).handover.router));
  return notes;
}

}  // namespace

void take_human_number(Sheet& sheet, std::initializer_list<std::string_view> keys, std::string_view term) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr || says_nothing(*setting) || setting->text.starts_with('-')) return;
  const double factor = factor_of(setting->text.back());
  if (factor == 0) return sheet.say(term, setting->text, *setting);
  double value = 0;
  const char* end = setting->text.data() + setting->text.size() - 1;
  const auto read = std::from_chars(setting->text.data(), end, value);
  constexpr double most = 1e15;
  if (read.ec != std::errc() || read.ptr != end || !(value >= 0 && value * factor < most)) {
    throw quantity::BadInput(setting->where, quantity::quoted(setting->text) + " is no number of vLLM's", "32k or 32K");
  }
  sheet.say(term, std::to_string(std::llround(value * factor)), *setting);
}

void take_served_model(Sheet& sheet, std::initializer_list<std::string_view> keys) { sheet.take("model", keys); }

std::string value_in(const Sheet& sheet, std::string_view key, std::string_view name) {
  const Setting* whole = sheet.find(key);
  if (whole != nullptr && whole->text.find('{') != std::string::npos) {
    const Node config = parse_commented_json(whole->text, whole->where);
    const Node* found = config.find(name);
    return found == nullptr ? std::string() : found->text;
  }
  const Setting* said = sheet.find(std::string(key).append(".").append(name));
  return said == nullptr ? std::string() : said->text;
}

void take_weight_type(Sheet& sheet) {
  if (sheet.text("quantization") == "modelopt") {  // and which of its schemes the checkpoint says
    const Given* model = sheet.word("model");
    const bool is_fp4 = model != nullptr && quantity::to_lower(model->text).find("fp4") != std::string::npos;
    sheet.say("quant", is_fp4 ? "nvfp4" : "fp8", *sheet.find("quantization"));
  }
  const auto* type = quantity::find_or_null(weight_types, sheet.text("dtype"), &Spelling::theirs);
  if (type != nullptr && !sheet.has("quant")) sheet.say("quant", type->ours, *sheet.find("dtype"));
}

std::string eagle_layers(std::string_view checkpoint) {
  return checkpoint.empty() ? "eagle" : "eagle=" + std::string(checkpoint);
}

void take_speculation(Sheet& sheet, std::string_view key) {
  const std::string name(key);
  const Setting* setting = sheet.find({key, name + ".method", name + ".model"});
  if (setting == nullptr) return;
  const std::string method = quantity::to_lower(value_in(sheet, key, "method"));
  const std::string model = value_in(sheet, key, "model");
  const std::string tokens = value_in(sheet, key, "num_speculative_tokens");
  const bool mtp = method.find("mtp") != std::string::npos || method == "nextn";
  const bool eagle = method.starts_with("eagle");
  const bool by_model = !model.empty() && (method == "draft_model" || method.empty());
  if (!mtp && !eagle && !by_model) return sheet.assume(*setting, "nothing is proposed ahead", "draft");
  const std::string who = by_model ? model : mtp ? "mtp" : eagle_layers(model);
  sheet.say("draft", who + (tokens.empty() ? "" : ":" + tokens), *setting);
}

void assume_load(Sheet& sheet) {
  sheet.assume("how many requests of which length come: no command says it, --concurrency, --prompt and --output do");
}

bool ServerLetter::asks_context() const { return deployment.question.serving.load.context > 0; }

std::string ServerLetter::beyond_trained(std::string_view variable) const {
  const auto& shape = question.model.shape;
  const bool is_one_stack = shape.stack != spec::Stack::encoder_decoder;
  const bool is_beyond = is_one_stack && shape.max_position > 0 && deployment.setup.context > shape.max_position;
  return is_beyond ? std::string(variable) + "=1 " : std::string();
}

std::string ServerLetter::text(std::string_view term) const { return read::find_term(term)->show(question); }

std::vector<Line> lines_of(const ServerLetter& letter, std::span<const Told> rules) {
  std::vector<Line> lines;
  for (const EngineOption& option : serving::row_of(letter.serving().engine).options) {
    if (!is_in(letter.deployment.setup.release, option)) continue;
    const Told* rule = quantity::find_or_null(rules, option.printed(), &Told::option);
    auto value = rule != nullptr ? rule->value(letter) : by_itself(option, letter);
    if (value) lines.push_back({option.printed(), *std::move(value)});
  }
  return lines;
}

std::string command_of(std::string start, const std::vector<Line>& lines) {
  CommandText command(std::move(start));
  for (const auto& [name, value] : lines) {
    if (value.empty()) {
      command.flag(name);
    } else {
      command.word(name, value);
    }
  }
  return command.text();
}

std::optional<std::string> all_ranks(const ServerLetter& letter) {
  return above(1, letter.question.layout.tp * letter.serving().layout.attention_dp);
}

std::optional<std::string> ranks_of_copies(const ServerLetter& letter) { return above(1, copies(letter)); }

std::optional<std::string> scheme(const ServerLetter& letter) { return served_as(letter).scheme; }

std::optional<std::string> loras(const ServerLetter& letter) { return above(0, letter.serving().options.max_loras); }

std::optional<std::string> takes_loras(const ServerLetter& letter) { return if_so(loras(letter).has_value()); }

std::optional<std::string> node_rank(const ServerLetter& letter) {
  return if_so(letter.question.layout.nodes > 1, "$NODE_RANK");
}

std::optional<std::string> drafted(const ServerLetter& letter) {
  const spec::Draft& draft = letter.serving().options.draft;
  return draft.kind == spec::DraftKind::none ? std::nullopt : above(0, draft.tokens);
}

std::optional<std::string> drafter(const ServerLetter& letter, const DraftWords& words) {
  switch (letter.serving().options.draft.kind) {
    case spec::DraftKind::none: return std::nullopt;
    case spec::DraftKind::mtp: return std::string(words.own_layers);
    case spec::DraftKind::eagle: return std::string(words.eagle);
    case spec::DraftKind::model: return std::string(words.model);
  }
  return std::nullopt;
}

std::int64_t copies(const ServerLetter& letter) {
  const std::int64_t attention = letter.serving().layout.attention_dp;
  return attention > 1 || letter.question.layout.ep > 1 ? attention : letter.question.layout.dp;
}

ServerCommand server_command(const serving::Deployment& deployment, const ServedNames& names) {
  const std::int64_t servers = servers_to_start(deployment.question);
  const ServerLetter letter{deployment, names, one_of(started(deployment), servers)};
  const auto program = names.program.empty() ? spec::name_of(letter.serving().engine) : names.program;
  const auto starts = [&](const Format& each) { return each.start != nullptr && each.starts(program); };
  const auto* format = quantity::find_if_or_null(formats(), starts);
  if (format == nullptr) return {};
  std::string command = format->start(letter);
  auto terms = untold(letter, command);
  const bool lacks_layers = letter.serving().options.draft.kind == spec::DraftKind::eagle && !draft_model(letter);
  if (lacks_layers && terms.empty()) terms.push_back("--draft " + letter.text("draft"));
  if (terms.empty()) {
    auto notes = notes_on(letter, command);
    return {std::move(command), std::move(notes), servers};
  }
  const auto whose = names.program.empty() ? serving::row_of(letter.serving().engine).program : names.program;
  std::vector<std::string> notes{
      fmt::format("no command of {} starts this server: none says {}", whose, quantity::joined(terms, ", "))};
  if (lacks_layers) notes.push_back(without_layers(names.weights()));
  return {{}, std::move(notes), servers};
}

}  // namespace llmcalc::dialects
