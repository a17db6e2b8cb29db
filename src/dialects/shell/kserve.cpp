
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace llmcalc::dialects {
namespace {

/// Appends "--option text" from a place of the file.
void add_option(LaunchCommand& launch, std::string_view option, const std::string& text, const Node& because) {
  add_words(launch, because, {option});
  if (!text.empty()) add_words(launch, because, {text});
}

void add_option(LaunchCommand& launch, std::string_view option, const Node* value) {
  if (value != nullptr && !value->text.empty()) add_option(launch, option, value->text, *value);
}

/// Whether the arguments name a model; "/mnt/models" is where its weights are mounted.
bool names_model(const LaunchCommand& launch) {
  for (auto word = launch.words.begin(); word != launch.words.end(); ++word) {
    if (!word->text.starts_with("--model")) continue;
    const auto equals = word->text.find('=');
    const auto next = std::next(word);
    const std::string_view value = equals != std::string::npos  ? std::string_view(word->text).substr(equals + 1)
                                   : next != launch.words.end() ? std::string_view(next->text)
                                                                : std::string_view();
    if (!value.empty() && !value.starts_with('/') && !word->text.starts_with("--model_name")) return true;
  }
  return false;
}

/// "hf://org/name": what lies in a bucket or on a volume has no name.
void add_model(LaunchCommand& launch, const Node* uri) {
  constexpr std::string_view hub = "hf://";
  if (uri == nullptr || uri->text.empty() || uri->text.find("{{") != std::string::npos) return;
  if (uri->text.starts_with(hub)) return add_option(launch, "--model", uri->text.substr(hub.size()), *uri);
  if (names_model(launch)) return;
  add_option(launch, "--model", {}, *uri);
  launch.words.push_back({{}, line_of(uri->where), uri->text});
}

/// The container of the runtime that a file brings along.
const Node* runtime_container(const Node& file, int depth = 0) {
  const Node* kind = file.find("kind");
  if (kind != nullptr && kind->text.ends_with("ServingRuntime")) {
    const Node* containers = below(&file, {"spec", "containers"});
    return containers == nullptr || containers->items.empty() ? nullptr : &containers->items.front();
  }
  constexpr int lists_in_lists = 2;
  for (const Node& item : file.items) {
    const Node* found = depth < lists_in_lists ? runtime_container(item, depth + 1) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// KServe's own runtime for Hugging Face's models is vLLM (python/huggingfaceserver); others are named by their format.
std::string_view image_of_format(const Node& model) {
  std::string names;
  for (const Node* name : {below(&model, {"modelFormat", "name"}), model.find("runtime")}) {
    if (name != nullptr) names += quantity::to_lower(name->text) + " ";
  }
  if (names.find("sglang") != std::string::npos) return "sglang";
  const bool known = names.find("vllm") != std::string::npos || names.find("huggingface") != std::string::npos;
  return known ? "vllm" : "";
}

/// The image of a container as a word of a command, or what runs without one.
ShellWord image_word(const Node* image, std::string_view otherwise, const Node& because) {
  if (image != nullptr) return {image->text, line_of(image->where), {}};
  return {std::string(otherwise), line_of(because.where), {}};
}

/// A runtime's arguments come first, the service's own behind them (pkg/controller/v1beta1/inferenceservice/utils,
/// MergeRuntimeContainers).
LaunchCommand model_launch(const Node& predictor, const Node& model, const Node* runtime, std::string_view place) {
  const Node* image = runtime == nullptr ? nullptr : runtime->find("image");
  const ShellWord name = image_word(image, image_of_format(model), model);
  if (name.text.empty()) return {};
  LaunchCommand given = runtime == nullptr ? LaunchCommand() : container_words(*runtime, place);
  quantity::append(given.words, container_words(model, place).words);
  LaunchCommand launch = container_launch(name, std::move(given), place);
  add_model(launch, model.find("storageUri"));
  const Node* worker = predictor.find("workerSpec");
  add_option(launch, "--tensor-parallel-size", below(worker, {"tensorParallelSize"}));
  add_option(launch, "--pipeline-parallel-size", below(worker, {"pipelineParallelSize"}));
  if (runtime != nullptr) take_variables(*runtime, launch);
  if (runtime != nullptr) take_accelerators(*runtime, launch);
  take_variables(model, launch);
  take_accelerators(model, launch);
  return launch;
}

const Node& first_container(const Node& spec) {
  static const Node none;
  const Node* containers = below(&spec, {"template", "containers"});
  return containers == nullptr || containers->items.empty() ? none : containers->items.front();
}

void add_words_of_variable(LaunchCommand& launch, std::string_view variable, std::string_view place) {
  const Setting* added = launch.launcher.find(variable);
  if (added == nullptr) return;
  for (auto& command : parse_shell(added->text, place).commands) {
    for (auto& word : command.words) launch.words.push_back({std::move(word.text), line_of(added->where), {}});
  }
}

/// A name with an organisation is the Hub's; what a storage holds is only called by one.
void add_named_model(LaunchCommand& launch, const Node* model) {
  const Node* called = below(model, {"name"});
  if (called != nullptr && called->text.find('/') != std::string::npos) add_option(launch, "--model", called);
  add_model(launch, below(model, {"uri"}));
}

void add_parallelism(LaunchCommand& launch, const Node* ranks) {
  add_option(launch, "--tensor-parallel-size", below(ranks, {"tensor"}));
  add_option(launch, "--pipeline-parallel-size", below(ranks, {"pipeline"}));
  add_option(launch, "--data-parallel-size", below(ranks, {"data"}));
  const Node* experts = below(ranks, {"expert"});
  if (experts != nullptr && experts->text == "true") add_option(launch, "--enable-expert-parallel", {}, *experts);
  const auto copies = number_in(below(ranks, {"data"}));
  const auto local = number_in(below(ranks, {"dataLocal"}));
  if (local > 0 && copies > local) put(launch, "container.nodes", std::to_string(copies / local), ranks->where);
}

/// config/llmisvcconfig: `vllm serve`, with how it is spread and what VLLM_ADDITIONAL_ARGS adds.
LaunchCommand llm_launch(const Node& spec, std::string_view place) {
  const Node& container = first_container(spec);
  const ShellWord name = image_word(container.find("image"), "vllm", spec);
  LaunchCommand launch = container_launch(name, container_words(container, place), place);
  take_variables(container, launch);
  take_accelerators(container, launch);
  add_words_of_variable(launch, "environment.VLLM_ADDITIONAL_ARGS", place);
  add_named_model(launch, spec.find("model"));
  add_parallelism(launch, spec.find("parallelism"));
  return launch;
}

/// The command that KubeAI starts for an engine, in front of what the model's url names (substratusai/kubeai,
/// internal/modelcontroller/engine_vllm.go and its neighbours).
constexpr std::pair<std::string_view, std::string_view> kubeai_engines[] = {{"vllm", "vllm serve"},
                                                                            {"sglang", "sglang serve --model-path"},
                                                                            {"ollama", "ollama run"},
                                                                            {"llamacpp", "llama-server -hf"}};

/// "nvidia-gpu-l4:2": so many of the accelerators that the chart's values give that name.
void take_profile(const Node& profile, LaunchCommand& launch) {
  std::string_view count = profile.text;
  const auto name = quantity::take_until(count, ":");
  const auto gpu = gpu_of_label("accelerator", name);
  put(launch, "container.gpu", std::string(gpu), profile.where);
  if (!gpu.empty() || !name.starts_with("cpu")) put(launch, "container.gpus", std::string(count), profile.where);
  if (!gpu.empty()) return;
  launch.assumed.push_back(
      fmt::format("resourceProfile ({}): what {} is stands in the values of KubeAI's chart, say --gpu", profile.where,
                  profile.text));
}

/// A Model of KubeAI's, or an entry of the values of its chart of models; nothing where it names no engine and no
/// model.
LaunchCommand kubeai_launch(const Node& spec) {
  const Node* engine = spec.find("engine");
  const Node* url = spec.find("url");
  LaunchCommand launch;
  if (engine == nullptr || url == nullptr || url->text.empty()) return launch;
  const auto* known = quantity::find_if_or_null(
      kubeai_engines, [&](const auto& each) { return each.first == quantity::to_lower(engine->text); });
  if (known == nullptr)
    throw quantity::BadInput(engine->where, "KubeAI's engine " + quantity::quoted(engine->text) + " is not read",
                             "known are VLLM, SGLang, OLlama and LlamaCpp");
  for (const auto word : quantity::pieces_of(known->second, " ")) add_words(launch, *engine, {word});
  const bool is_named = url->text.starts_with("hf://") || url->text.starts_with("ollama://");
  const auto model = is_named ? url->text.substr(url->text.find("//") + 2) : std::string();
  launch.words.push_back({model.substr(0, model.find('?')), line_of(url->where), is_named ? std::string() : url->text});
  const Node* arguments = spec.find("args");
  for (const Node& word : arguments == nullptr ? std::vector<Node>() : arguments->items)
    add_words(launch, word, {word.text});
  take_variables(spec, launch);
  if (const Node* profile = spec.find("resourceProfile")) take_profile(*profile, launch);
  assume_one_of(spec.find("minReplicas"), launch);
  return launch;
}

/// A role of llm-d's chart (llm-d-incubation/llm-d-modelservice, templates/_helpers.tpl): it writes the command of a
/// container that has none, and tells each how it is spread.
LaunchCommand role_launch(const Node& file, const Node& role, std::string_view place) {
  Node container = below(&role, {"containers"})->items.front();
  const Node* ranks = role.find("parallelism");
  for (const auto& [name, key] : {std::pair{"TP_SIZE", "tensor"}, std::pair{"DP_SIZE", "data"},
                                  std::pair{"DP_SIZE_LOCAL", "dataLocal"}, std::pair{"LWS_GROUP_SIZE", "workers"}})
    add_variable(name, below(ranks, {key}), container);
  const Node* image = container.find("image");
  LaunchCommand given = container_words(container, place);
  const bool is_written = container.find("command") != nullptr;
  if (!is_written)
    given.words.insert(given.words.begin(), {{"vllm", line_of(role.where), {}}, {"serve", line_of(role.where), {}}});
  LaunchCommand launch = container_launch(image_word(image, "vllm", role), std::move(given), place);
  take_variables(container, launch);
  take_accelerators(container, launch);
  if (!is_written) add_named_model(launch, file.find("modelArtifacts"));
  if (!is_written) add_parallelism(launch, ranks);
  Surroundings around;
  take_nodes(role, around);
  if (const Node* more = role.find("extraConfig")) take_nodes(*more, around);
  add_surroundings(around, launch);
  const Node* label = below(&role, {"acceleratorTypes", "labelKey"});
  const Node* values = below(&role, {"acceleratorTypes", "labelValues"});
  if (label != nullptr && values != nullptr && !values->items.empty())
    put(launch, "container.gpu", std::string(gpu_of_label(label->text, values->items.front().text)), label->where);
  return launch;
}

void find_services(const Node& file, const Node* runtime, std::string_view place, int depth,
                   std::vector<LaunchCommand>& found) {
  constexpr int lists_in_lists = 2;
  for (const Node& item : file.items) {
    if (depth < lists_in_lists) find_services(item, runtime, place, depth + 1, found);
  }
  const Node* kind = file.find("kind");
  const Node* spec = file.find("spec");
  if (kind == nullptr || spec == nullptr) return;
  LaunchCommand launch;
  Surroundings around;
  const Node* predictor = spec->find("predictor");
  const Node* model = below(predictor, {"model"});
  if (kind->text == "InferenceService" && model != nullptr) {
    launch = model_launch(*predictor, *model, runtime, place);
    take_nodes(*predictor, around);
  } else if (kind->text == "LLMInferenceService") {
    launch = llm_launch(*spec, place);
    if (const Node* pod = spec->find("template")) take_nodes(*pod, around);
  } else if (kind->text == "Model") {
    launch = kubeai_launch(*spec);
  }
  if (launch.words.empty()) return;
  add_surroundings(around, launch);
  found.push_back(std::move(launch));
}

/// Accelerators of each pod, times the pods where they are one cluster of Ray, and its head's
/// (templates/ray-cluster.yaml).
std::string of_all_pods(const Node& spec, const Node& each) {
  const Node* ray = spec.find("raySpec");
  const Node* enabled = below(ray, {"enabled"});
  const Node* pods = spec.find("replicaCount");
  if (enabled == nullptr || pods == nullptr || enabled->text != "true") return each.text;
  const Node* head = below(ray, {"headNode", "requestGPU"});
  const auto all = shell_arithmetic(each.text + " * " + pods->text + " + " + (head == nullptr ? "0" : head->text), {});
  return all.known ? std::to_string(all.value) : each.text;
}

}  // namespace

/// Values of vLLM's production stack (helm/values.yaml, servingEngineSpec.modelSpec; templates/deployment-vllm-multi).
std::vector<LaunchCommand> helm_launches(const Node& file, std::string_view place) {
  constexpr std::pair<std::string_view, std::string_view> options[] = {
      {"maxModelLen", "--max-model-len"},
      {"dtype", "--dtype"},
      {"tensorParallelSize", "--tensor-parallel-size"},
      {"pipelineParallelSize", "--pipeline-parallel-size"},
      {"maxNumSeqs", "--max-num-seqs"},
      {"gpuMemoryUtilization", "--gpu-memory-utilization"},
      {"maxLoras", "--max-loras"}};
  std::vector<LaunchCommand> found;
  const Node* specs = below(&file, {"servingEngineSpec", "modelSpec"});
  if (specs == nullptr) return found;
  for (const Node& spec : specs->items) {
    const Node* tag = spec.find("tag");
    const std::string image = "vllm-openai:" + (tag == nullptr ? std::string("latest") : tag->text);
    LaunchCommand launch = container_launch({image, line_of(spec.where), {}}, {}, place);
    add_option(launch, "--model", spec.find("modelURL"));
    const Node* config = spec.find("vllmConfig");
    for (const auto& [theirs, ours] : options) add_option(launch, ours, below(config, {theirs}));
    add_option(launch, "--kv-transfer-config.kv_role", below(&spec, {"lmcacheConfig", "kvRole"}));
    if (const Node* buffer = below(&spec, {"lmcacheConfig", "nixlBufferSize"})) {
      launch.assumed.push_back("nixlBufferSize " + buffer->text + " (" + buffer->where + "): no buffer is counted");
    }
    const Node* chunks = below(config, {"enableChunkedPrefill"});
    const Node* keeps = below(config, {"enablePrefixCaching"});
    if (chunks != nullptr && chunks->text == "false") add_option(launch, "--no-enable-chunked-prefill", {}, *chunks);
    if (config != nullptr) {  // not kept unasked
      const bool kept = keeps != nullptr && keeps->text == "true";
      add_option(launch, kept ? "--enable-prefix-caching" : "--no-enable-prefix-caching", {},
                 keeps == nullptr ? *config : *keeps);
    }
    if (const Node* lora = spec.find("enableLoRA"); lora != nullptr && lora->text == "true") {
      add_option(launch, "--enable-lora", {}, *lora);
    }
    if (const Node* extra = below(config, {"extraArgs"})) {
      for (const Node& word : extra->items) add_option(launch, word.text, {}, word);
    }
    if (below(&spec, {"raySpec"}) == nullptr) assume_one_of(spec.find("replicaCount"), launch);
    if (const Node* beside = spec.find("extraArgs")) {
      launch.assumed.push_back("extraArgs (" + beside->where + ") are read within vllmConfig alone, as the chart does");
    }
    if (const Node* count = spec.find("requestGPU"))
      put(launch, "container.gpus", of_all_pods(spec, *count), count->where);
    found.push_back(std::move(launch));
  }
  return found;
}

/// A recipe of vLLM's (vllm-project/recipes, src/lib/command-synthesis.js): its default variant by tensor parallelism,
/// with the arguments of all, of the features that are on unasked, and of the variant.
std::vector<LaunchCommand> recipe_launches(const Node& file) {
  const Node* variant = below(&file, {"variants", "default"});
  const Node* model = below(variant, {"model_id"});
  if (model == nullptr) model = below(&file, {"model", "model_id"});
  if (variant == nullptr || model == nullptr) return {};
  LaunchCommand launch;
  add_words(launch, *model, {"vllm", "serve", model->text});
  const auto add_all = [&](const Node* arguments) {
    for (const Node& word : arguments == nullptr ? std::vector<Node>() : arguments->items)
      add_words(launch, word, {word.text});
  };
  add_all(below(&file, {"model", "base_args"}));
  const Node* asked = file.find("opt_in_features");
  const Node* features = file.find("features");
  for (const auto& [name, feature] : features == nullptr ? std::vector<Member>() : features->members) {
    if (asked == nullptr || !quantity::contains(asked->items, name, &Node::text)) add_all(feature.find("args"));
  }
  add_all(variant->find("extra_args"));
  const Node* ranks = variant->find("tp");
  if (ranks == nullptr) ranks = below(&file, {"strategy_overrides", "single_node_tp", "tp"});
  add_option(launch, "--tensor-parallel-size", ranks);
  if (ranks == nullptr || ranks->text.empty()) {
    launch.assumed.push_back("default (" + variant->where +
                             "): a recipe takes all cards of a machine where one is not enough, say --tp");
  }
  for (const Node* part : {&file, variant}) {
    const Node* others = part->find("hardware_overrides");
    if (others == nullptr || others->members.empty()) continue;
    std::vector<std::string> names = quantity::mapped(others->members, &Member::key);
    launch.assumed.push_back("hardware_overrides (" + others->where + "): what " + quantity::joined(names, ", ") +
                             " are told is not read");
  }
  return {std::move(launch)};
}

std::vector<LaunchCommand> kserve_launches(const Node& file, std::string_view place) {
  std::vector<LaunchCommand> found;
  find_services(file, runtime_container(file), place, 0, found);
  const Node* catalog = file.find("catalog");
  for (const auto& [name, model] : catalog == nullptr ? std::vector<Member>() : catalog->members) {
    const Node* enabled = model.find("enabled");
    LaunchCommand launch = enabled != nullptr && enabled->text == "false" ? LaunchCommand() : kubeai_launch(model);
    if (!launch.words.empty()) found.push_back(std::move(launch));
  }
  for (const auto role : {"decode", "prefill"}) {
    const Node* created = below(&file, {role, "create"});
    const Node* containers = below(&file, {role, "containers"});
    const bool runs = containers != nullptr && !containers->items.empty();
    if (runs && (created == nullptr || created->text != "false"))
      found.push_back(role_launch(file, *file.find(role), place));
  }
  return found;
}

}  // namespace llmcalc::dialects
