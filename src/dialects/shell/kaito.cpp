// KAITO's workspaces, sets and roles (kaito-project/kaito, api/v1beta1): a preset's name and a machine's type, of which
// its controller makes the command of a vLLM server (pkg/model/interface.go, buildVLLMInferenceCommand).

#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

struct KaitoModel {
  std::string_view repository;
  std::string_view preset = {};  ///< where it is not the repository's last part in small letters
  double gib = 0.0;              ///< of its files; 0 where the catalogue does not say
};

constexpr KaitoModel models[] = {
#include "dialects/kaito_models.inc"
};

/// By its preset's name, or its repository's, whatever their case (presets/workspace/models/vllm_model.go,
/// GetModelByName).
const KaitoModel* model_named(std::string_view name) {
  const std::string lower = quantity::to_lower(name);
  return quantity::find_if_or_null(models, [&](const KaitoModel& each) {
    const std::string repository = quantity::to_lower(each.repository);
    return lower == repository || lower == (each.preset.empty() ? base_name(repository) : each.preset);
  });
}

/// The size of a model's files: the catalogue's, or 16 bits for each parameter that its checkpoint holds.
std::optional<double> file_gib(const KaitoModel* known, const std::string& repository) {
  if (known != nullptr && known->gib > 0.0) return known->gib;
  const auto preset = read::Catalogue().find_model(repository);
  if (!preset || preset->weights.quant || !preset->is_called(repository)) return std::nullopt;
  const auto elements = preset->checkpoint.total  ? preset->checkpoint.total
                        : preset->published.exact ? preset->published.exact
                                                  : preset->published.counted;
  if (!elements) return std::nullopt;
  return quantity::in_gib(quantity::bytes(2 * *elements));
}

/// A workspace, wherever it stands: itself, the template of an InferenceSet, a role.
struct Workspace {
  const Node* object = nullptr;     ///< with the annotations
  const Node* name = nullptr;       ///< of the preset
  const Node* inference = nullptr;  ///< nullptr of a role
  const Node* resource = nullptr;   ///< with instanceType
  const Node* role = nullptr;       ///< "prefill", "decode"
};

struct Machines {
  std::int64_t cards = 1;  ///< of one machine
  std::int64_t nodes = 1;
  double card_gib = 0.0;  ///< 0: not known
};

Machines take_machine(const Workspace& workspace, LaunchCommand& launch) {
  Machines machines;
  const Node* type = below(workspace.resource, {"instanceType"});
  const Node* count = below(workspace.resource, {"count"});
  machines.nodes = std::max<std::int64_t>(1, number_in(count));
  if (type != nullptr) {
    if (const auto instance = read::find_instance(type->text)) {
      machines.cards = instance->cards;
      machines.card_gib =
          quantity::in_gib(read::Catalogue().accelerator(instance->gpu, type->where).accelerator.memory_nominal);
      put(launch, "container.gpu", std::string(instance->gpu), type->where);
      put(launch, "container.gpus", std::to_string(instance->cards), type->where);
    } else {
      launch.assumed.push_back(fmt::format(
          "instanceType ({}): {} is no machine that is known: one accelerator, say --gpu", type->where, type->text));
    }
  }
  for (const auto part : {"partition", "mig"}) {
    const Node* profile = below(workspace.resource, {part, "profile"});
    if (profile == nullptr) continue;
    launch.assumed.push_back(fmt::format("profile ({}): a slice {} of a card that the file does not name: say --gpu",
                                         profile->where, profile->text));
  }
  if (const Node* cards = below(workspace.resource, {"partition", "count"})) {
    machines.cards = std::max<std::int64_t>(1, number_in(cards));
    put(launch, "container.gpus", cards->text, cards->where);
  }
  if (machines.nodes > 1) {
    put(launch, "container.nodes", std::to_string(machines.nodes), count->where);
  } else if (count == nullptr) {
    launch.assumed.push_back(
        fmt::format("one machine ({}): KAITO takes as many as it counts to hold the model", workspace.name->where));
  }
  return machines;
}

/// pkg/model/interface.go, configureParallelism and modelFitsOnSingleGPU: a copy on each card of one machine where the
/// files take less than half a card, or else all cards together, and machines in a row.
void add_layout(const Machines& machines, std::optional<double> gib, const Node& because, LaunchCommand& launch) {
  const auto cards = std::to_string(machines.cards);
  const bool may_copy = machines.nodes == 1 && machines.cards > 1;
  constexpr double copies_below = 0.5;
  if (may_copy && gib && machines.card_gib > 0.0 && *gib < copies_below * machines.card_gib) {
    add_words(launch, because, {"--data-parallel-size", cards, "--tensor-parallel-size", "1"});
    launch.assumed.push_back(fmt::format(
        "a copy on each of {} cards ({}): the model's {:.1f} GiB are less than half of one, so KAITO does not split it",
        cards, because.where, *gib));
    return;
  }
  add_words(launch, because, {"--tensor-parallel-size", cards});
  if (may_copy && (!gib || machines.card_gib == 0.0)) {
    launch.assumed.push_back(fmt::format(
        "split over {} cards ({}): KAITO copies it to each instead where its files take less than half of one", cards,
        because.where));
  }
  if (machines.nodes > 1) add_words(launch, because, {"--pipeline-parallel-size", std::to_string(machines.nodes)});
}

/// The ConfigMap of that name, of which KAITO mounts `inference_config.yaml`.
const Node* config_map(const Node& file, const std::string& name) {
  const Node* kind = file.find("kind");
  const Node* own = below(&file, {"metadata", "name"});
  if (kind != nullptr && own != nullptr && kind->text == "ConfigMap" && own->text == name)
    return below(&file, {"data", "inference_config.yaml"});
  for (const Node& item : file.items) {
    if (const Node* found = item.items.empty() ? config_map(item, name) : nullptr) return found;
  }
  return nullptr;
}

/// presets/workspace/inference/vllm/inference_api.py: each key below `vllm` is an option behind KAITO's own.
std::vector<Member> configured(const Node& file, const Workspace& workspace, std::string_view place,
                               LaunchCommand& launch) {
  const Node* config = below(workspace.inference, {"config"});
  const Node* text = config == nullptr ? nullptr : config_map(file, config->text);
  if (config != nullptr && text == nullptr)
    launch.assumed.push_back(fmt::format("config ({}): the ConfigMap {} stands in another file and is not read",
                                         config->where, config->text));
  if (text == nullptr) return {};
  const Node settings = parse_yaml(text->text, place);
  const Node* options = settings.find("vllm");
  if (options == nullptr) return {};
  std::vector<Member> found = options->members;
  for (Member& option : found) {
    std::ranges::replace(option.key, '_', '-');
    option.value.where = fmt::format("{}:{}", place, line_of(text->where) + line_of(option.value.where));
  }
  return found;
}

/// KAITO's share of memory and context, and those of the configuration in their place.
void add_options(const std::vector<Member>& options, const Node& name, LaunchCommand& launch) {
  if (!quantity::contains(options, "gpu-memory-utilization", &Member::key)) {
    add_words(launch, name, {"--gpu-memory-utilization", "0.84"});
    launch.assumed.push_back(fmt::format(
        "gpu-memory-utilization ({}): 0.84, as KAITO's launcher passes it; other releases pass other shares",
        name.where));
  }
  if (!quantity::contains(options, "max-model-len", &Member::key)) {
    launch.assumed.push_back(fmt::format(
        "max-model-len ({}): KAITO leaves it to vLLM, which shortens the context to what fits, say --context",
        name.where));
  }
  for (const auto& [key, value] : options) {
    if (value.kind == Node::Kind::value) add_words(launch, value, {"--" + key, value.text});
  }
}

/// The option of each role's transfer of keys and values (vllm/config/kv_transfer.py).
void add_role(const Workspace& workspace, LaunchCommand& launch) {
  if (workspace.role == nullptr) return;
  const bool reads = workspace.role->text == "prefill";
  if (!reads && workspace.role->text != "decode") return;
  add_words(launch, *workspace.role, {"--kv-transfer-config.kv_role", reads ? "kv_producer" : "kv_consumer"});
}

void refuse_other_runtime(const Workspace& workspace) {
  const Node* runtime = below(workspace.object, {"metadata", "annotations", "kaito.sh/runtime"});
  if (runtime == nullptr || runtime->text == "vllm") return;
  throw quantity::BadInput(runtime->where, "KAITO's server of transformers is not modelled",
                           "say llmcalc serve --engine hf --model " + workspace.name->text);
}

LaunchCommand launch_of(const Node& file, const Workspace& workspace, std::string_view place) {
  refuse_other_runtime(workspace);
  const KaitoModel* known = model_named(workspace.name->text);
  const std::string repository = known == nullptr ? workspace.name->text : std::string(known->repository);
  const Node& name = *workspace.name;
  LaunchCommand launch;
  add_words(launch, name, {"vllm", "serve", repository});
  const Machines machines = take_machine(workspace, launch);
  add_layout(machines, file_gib(known, repository), name, launch);
  const Node* adapters = below(workspace.inference, {"adapters"});
  if (adapters != nullptr && !adapters->items.empty()) add_words(launch, *adapters, {"--enable-lora"});
  add_role(workspace, launch);
  add_options(configured(file, workspace, place, launch), name, launch);
  const Node* drafts = below(workspace.object, {"metadata", "annotations", "kaito.sh/enable-speculative-decoding"});
  if (drafts != nullptr && drafts->text == "true")
    launch.assumed.push_back(
        fmt::format("enable-speculative-decoding ({}) is not counted, say --draft", drafts->where));
  return launch;
}

/// pkg/workspace/tuning: a trainer of its own, whose settings stand in a ConfigMap of the cluster.
void refuse_tuning(const Node& object) {
  const Node* preset = below(&object, {"tuning", "preset", "name"});
  if (preset == nullptr) return;
  const Node* method = below(&object, {"tuning", "method"});
  throw quantity::BadInput(preset->where, "KAITO's fine-tuning has its batch and length in a ConfigMap of the cluster",
                           "say llmcalc fit --framework hf --model " + preset->text + " --method " +
                               (method == nullptr ? "lora" : method->text));
}

/// The workspaces of one object; each replica of a set is one, and a server of its own.
void add_object(const Node& file, const Node& object, std::string_view place, std::vector<LaunchCommand>& found) {
  const Node* kind = object.find("kind");
  if (kind == nullptr) return;
  const auto add = [&](const Workspace& workspace) {
    if (workspace.name == nullptr || workspace.name->text.empty()) return;
    found.push_back(launch_of(file, workspace, place));
  };
  const Node* spec = object.find("spec");
  if (kind->text == "Workspace") {
    if (found.empty()) refuse_tuning(object);
    const bool is_wrapped = object.find("inference") == nullptr && spec != nullptr;
    const Node& whole = is_wrapped ? *spec : object;
    const Node* inference = whole.find("inference");
    add({&object, below(inference, {"preset", "name"}), inference, whole.find("resource")});
    if (is_wrapped && !found.empty())
      found.back().assumed.push_back(
          fmt::format("spec ({}): a Workspace has none, its resource and inference stand beside kind", spec->where));
  } else if (kind->text == "InferenceSet") {
    const Node* inference = below(spec, {"template", "inference"});
    add({&object, below(inference, {"preset", "name"}), inference, below(spec, {"template", "resource"})});
    if (!found.empty()) assume_one_of(below(spec, {"replicas"}), found.back());
  } else if (kind->text == "MultiRoleInference") {
    const Node* roles = below(spec, {"roles"});
    for (const Node& role : roles == nullptr ? std::vector<Node>() : roles->items)
      add({&object, below(spec, {"model", "name"}), nullptr, &role, role.find("type")});
  }
}

}  // namespace

std::vector<LaunchCommand> kaito_launches(const Node& file, std::string_view place) {
  std::vector<LaunchCommand> found;
  add_object(file, file, place, found);
  for (const Node& item : file.items) {
    add_object(file, item, place, found);
    for (const Node& inner : item.items) add_object(file, inner, place, found);  // several documents of lists
  }
  return found;
}

}  // namespace llmcalc::dialects
