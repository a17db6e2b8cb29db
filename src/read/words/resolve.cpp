
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {

using spec::option_of;

namespace {

using spec::Framework;

bool is_rule(const QuestionDraft& draft) {
  return draft.question.training.activations != spec::ActivationModel::program;
}

bool is_split(const QuestionDraft& draft) {
  const spec::Layout& layout = draft.question.layout;
  return layout.tp > 1 || layout.pp > 1 || layout.cp > 1 || layout.ep > 1;
}

bool has_zero(const QuestionDraft& draft) {
  const auto sharding = draft.question.layout.sharding;
  return spec::zero_stage(sharding) > 0 && !spec::is_fsdp(sharding);
}

bool has_fsdp(const QuestionDraft& draft) { return spec::is_fsdp(draft.question.layout.sharding); }

bool has_adapters(const QuestionDraft& draft) { return trains_adapters(draft.question.training.method); }

/// trl and what is like it hand over text that is continued (trl trainer/sft_trainer.py: causal language models).
bool adapts_no_decoder(const QuestionDraft& draft) {
  return has_adapters(draft) && draft.question.model.shape.stack != spec::Stack::decoder;
}

/// A model is known by its size, and each card holds all of it. By values and not by words: a default said aloud is
/// one. Nobody tunes adapters as a textbook does.
bool is_size_alone(const QuestionDraft& draft) {
  const bool spread = is_split(draft) || has_zero(draft) || has_fsdp(draft);
  return draft.question.stated_parameters && !spread && !has_adapters(draft);
}

/// Programs of a TPU are compiled whole.
bool is_compiled(const QuestionDraft& draft) { return !spec::can(draft.question.gpu, spec::Ability::eager); }

/// Frameworks that people use for a layout, most common first; the first that can do all that is asked is taken, or
/// else the textbook, which can do everything.
struct Usage {
  std::string_view why;
  bool (*holds)(const QuestionDraft& draft);
  frameworks::List<Framework> trainers;
};

constexpr Usage usages[] = {
#include "vocabulary/usages.inc"
};

/// A search over several cards may cut a model in every direction, which few programs can.
constexpr Framework cutters[] = {Framework::megatron,  Framework::megatron_bridge, Framework::nemo,
                                 Framework::deepspeed, Framework::torchtitan,      Framework::hf};

constexpr Framework tuners[] = {Framework::trl,        Framework::hf,        Framework::llama_factory,
                                Framework::accelerate, Framework::deepspeed, Framework::megatron_bridge};

/// All weights on one card.
constexpr Framework alone[] = {Framework::accelerate, Framework::hf, Framework::trl, Framework::llama_factory,
                               Framework::deepspeed};

/// Sets the framework, with its origin, where nobody said one: the layout decides (docs/frameworks.md has the table).
/// \pre the words of the run are taken
void choose_framework(QuestionDraft& draft) {
  if (draft.given("framework")) return;
  const auto usage = std::ranges::find_if(usages, [&](const Usage& one) { return one.holds(draft); });
  const auto can = [&](Framework framework) { return frameworks::unable_to(framework, draft.question).empty(); };
  const auto found = std::ranges::find_if(usage->trainers, can);
  const Framework framework = found == usage->trainers.end() ? Framework::generic : *found;
  draft.training().framework = framework;
  const std::string word(frameworks::row_of(framework).words.front());
  draft.assume("framework", usage->why, word, "for " + std::string(usage->why));
}

/// Defaults that hardly move an answer, or that everybody has.
bool goes_without_saying(std::string_view term, std::string_view value) {
  return term == "attention" || term == "optimizer_impl" || (term == "sharding" && value == "ddp") ||
         (term == "recompute" && value == "none");
}

/// Says what of --framework-version was not understood.
/// \throws quantity::BadInput where a person typed it and nothing was
void take_software(QuestionDraft& draft) {
  const Given* word = draft.words.find("framework_version");
  if (word == nullptr) return;
  const spec::Software& software = draft.training().software;
  if (!software.is_known() && word->origin.source == Source::flag) {
    throw quantity::BadInput(word->origin.where, quantity::quoted(word->text) + " names no library, release or date",
                             "\"transformers 4.56, torch 2.8\", or a date as 2025-06");
  }
  if (software.unread.empty()) return;
  const auto rest = quantity::joined(software.unread, ", ");
  const std::string known = software.is_known() ? write_software(software) : "nothing";
  draft.assume("--framework-version is read as " + known + "; not understood: " + rest);
}

/// "memory x 1.040 within 5 % (12 runs)"
void add_words(std::string_view figure, const spec::Bias& bias, std::string& words) {
  if (!bias.is_known()) return;
  words += (words.empty() ? "" : ", ") + std::string(figure) + " x " + quantity::format_number(bias.factor, 3) +
           " within " + quantity::format_percent(bias.bar) + " (" + std::to_string(bias.runs) + " runs)";
}

/// Measurements of a person's own runs of the framework become a part of the question.
void take_calibration(QuestionDraft& draft) {
  const OwnRuns* own = draft.catalogue.own_runs(draft.training().framework);
  if (own == nullptr || draft.training().activations != spec::ActivationModel::program) return;
  draft.question.calibration = own->calibration;
  std::string words;
  add_words("memory", own->calibration.memory, words);
  add_words("a step", own->calibration.time, words);
  if (!words.empty()) draft.assume("calibrated by runs of your own: " + words);
}

/// A model that is no preset has a name for people, which is no word that could be typed again.
bool is_echoed(const QuestionDraft& draft, const Term& term) { return term.name != "model" || draft.given("model"); }

void take_run(QuestionDraft& draft) {
  for (const Term& term : vocabulary()) {
    if (term.group != TermGroup::model) draft.take(term.name);
  }
  choose_framework(draft);
}

/// Trainers start from published weights in the type that they are told to use. Beside adapters transformers keeps some
/// as they are (`trained_as_published`); others it is asked to make wide first (FineGrainedFP8Config and Mxfp4Config,
/// dequantize).
void say_published(QuestionDraft& draft) {
  const spec::Training& training = draft.training();
  const bool beside_adapters = trains_adapters(training.method) &&
                               frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::trainer;
  const bool matters = draft.given("config") || beside_adapters;
  if (!draft.published_quant || !matters || formats::is_quantized(training.precision.weights)) return;
  const std::string form(spec::name_of(*draft.published_quant));
  draft.assume("the checkpoint is quantized (" + form + "); " +
               (beside_adapters ? "its base is taken as loaded with dequantize=True" +
                                      std::string(training.precision.experts ? ", experts in bf16" : "")
                                : "the precision of the run is the question's, not the file's"));
}

void complete(QuestionDraft& draft, const std::optional<ConfigText>& config) {
  take_gpu(draft);
  take_model(draft, config);
  take_run(draft);
  take_software(draft);
  take_default(draft, "method");
  complete_layout(draft);
  complete_optimizer(draft);
  take_precision(draft);
  say_published(draft);
  complete_method(draft);
  complete_algorithm(draft);
  complete_kernels(draft);
  complete_host(draft);
  complete_sequence(draft);
  complete_images(draft, "seq", draft.training().seq);
  complete_dropout(draft);
  complete_pipeline(draft);
  complete_batch(draft);
  complete_data(draft);
  complete_price(draft);
  check_combinations(draft);
  build(draft);
  take_calibration(draft);
}

}  // namespace

void QuestionDraft::take(std::string_view term) {
  const Given* word = words.find(term);
  const Term* row = word == nullptr ? nullptr : find_term(term);
  if (row == nullptr || row->apply == nullptr) return;
  row->apply(question, word->text, word->origin.where);
  set_origin(term, word->origin);
}

void QuestionDraft::set_origin(std::string_view term, Origin origin) {
  origins_.insert_or_assign(std::string(term), std::move(origin));
}

void QuestionDraft::derive(std::string_view term, std::string_view how) {
  set_origin(term, {Source::default_value, std::string(how)});
}

void QuestionDraft::assume(std::string_view term, std::string_view how, std::string text, std::string why) {
  set_origin(term, {Source::assumed, std::string(how)});
  std::erase_if(assumptions, [&](const spec::Assumption& before) { return before.term == term; });
  assumptions.push_back({std::move(why), std::string(term), std::move(text)});
}

Origin QuestionDraft::origin(std::string_view term) const {
  const auto found = origins_.find(term);
  return found == origins_.end() ? Origin{Source::default_value, "default"} : found->second;
}

std::string QuestionDraft::place(std::string_view term) const {
  const Given* word = words.find(term);
  return word == nullptr ? option_of(term) : word->origin.where;
}

std::string QuestionDraft::said(std::string_view term) const {
  if (const Given* word = words.find(term)) {
    const bool by_name = word->origin.where == quantity::quoted(word->text);  // the place is the word itself
    if (by_name) return word->origin.where;
    if (word->origin.source != Source::file) return word->origin.where + " " + std::string(words.typed(*word));
    return std::string(term) + " " + word->text + " (" + word->origin.where + ")";
  }
  const Term* row = find_term(term);
  const std::string value = row == nullptr ? std::string() : row->show(question);
  return std::string(term) + " " + (value.empty() ? "not given" : value + " (" + origin(term).where + ")");
}

void QuestionDraft::contradiction(std::string_view term, std::string_view other, std::string_view why,
                                  std::string hint) const {
  throw quantity::BadInput(place(term), said(term) + " contradicts " + said(other) + ": " + std::string(why),
                           std::move(hint));
}

std::span<const spec::Framework> frameworks_of_search(const spec::Question& question, bool on_several) {
  static constexpr Framework textbook[] = {Framework::generic};
  const auto& training = question.training;
  if (training.framework == Framework::generic) return textbook;
  static constexpr Framework compiled[] = {Framework::maxtext};
  if (!spec::can(question.gpu, spec::Ability::eager)) return compiled;
  if (trains_adapters(training.method)) return tuners;
  return on_several ? std::span<const Framework>(cutters) : std::span<const Framework>(alone);
}

bool take_default(QuestionDraft& draft, std::string_view term) {
  if (draft.given(term)) return false;
  const frameworks::Default* found = frameworks::default_of(draft.question, term);
  const Term* row = found == nullptr ? nullptr : find_term(term);
  if (row == nullptr) return false;
  row->apply(draft.question, found->value, found->source);
  const std::string how = std::string(spec::name_of(draft.training().framework)) + " default";
  if (goes_without_saying(term, found->value)) {
    draft.derive(term, how);
  } else {
    draft.assume(term, how, std::string(found->value));
  }
  return true;
}

void take_gpu(QuestionDraft& draft) {
  const Given* word = draft.words.find("gpu");
  if (draft.values.gpu) {
    draft.question.gpu = draft.values.gpu;
    draft.catalogue.add_rates(*draft.question.gpu);
    draft.set_origin("gpu", {Source::flag, "gpu"});
    return;
  }
  if (word == nullptr) return;
  draft.question.gpu = draft.catalogue.accelerator(word->text, word->origin.where).accelerator;
  draft.set_origin("gpu", word->origin);
}

void build(QuestionDraft& draft) {
  try {
    draft.question.model = spec::build_model(std::move(draft.shape()));
    const auto& adapter = draft.training().adapter;
    if (!adapter.layers.empty()) spec::keep_adapters_to(adapter.layers, draft.question.model);
  } catch (const quantity::BadInput& error) {
    const Term* term = find_term(error.place());
    if (term == nullptr) throw;
    const bool said = draft.given(term->name);
    throw quantity::BadInput(said ? draft.place(term->name) : draft.origin(term->name).where,
                             std::string(term->name) + " " + error.problem(), error.hint());
  }
}

std::vector<Given> echo(const QuestionDraft& draft, std::span<const Term> terms) {
  std::vector<Given> lines;
  for (const Shorthand& shorthand : shorthands()) {
    const Given* word = draft.words.find(shorthand.name);
    if (word != nullptr) lines.push_back({word->term, word->text, word->origin});
  }
  for (const Term& term : terms) {
    if (!is_echoed(draft, term)) continue;
    std::string value = term.show(draft.question);
    if (!value.empty()) lines.push_back({std::string(term.name), std::move(value), draft.origin(term.name)});
  }
  return lines;
}

std::vector<std::string> Resolved::warnings() const {
  if (unread.empty()) return {};
  return {"not read, and may change sizes: " + quantity::joined(unread, ", ")};
}

Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue,
                 const Values& values) {
  const Words words(given);
  QuestionDraft draft(words, catalogue, values);
  complete(draft, config);
  auto lines = echo(draft, vocabulary());
  return {std::move(draft.question), std::move(lines), std::move(draft.assumptions), {}, std::move(draft.unread)};
}

spec::Question resolved_question(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                                 const Catalogue& catalogue, const Values& values) {
  const Words words(given);
  QuestionDraft draft(words, catalogue, values);
  complete(draft, config);
  return std::move(draft.question);
}

}  // namespace llmcalc::read
