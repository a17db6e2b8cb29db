#include "dialects/shell/ray.hpp"

#include "dialects/shell/accelerator_labels.hpp"
#include "dialects/shell/container_words.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

void add(LaunchCommand& launch, const std::string& word, const Node& because) {
  launch.words.push_back({word, line_of(because.where), {}});
}

LaunchCommand vllm(const Node& because) {
  LaunchCommand launch;
  add(launch, "vllm", because);
  add(launch, "serve", because);
  return launch;
}

/// ray.serve.llm's LLMConfig: engine_kwargs are vLLM's own arguments (ray
/// llm/_internal/serve/configs/server_models.py).
LaunchCommand llm_launch(const Node& config) {
  LaunchCommand launch = vllm(config);
  const Node* source = below(&config, {"model_loading_config", "model_source"});
  if (source == nullptr || source->text.empty()) source = below(&config, {"model_loading_config", "model_id"});
  if (source != nullptr) add(launch, source->text, *source);
  if (const Node* options = config.find("engine_kwargs")) {
    for (const auto& [name, value] : options->members) {
      if (value.kind != Node::Kind::value) continue;
      add(launch, "--" + name, value);
      if (value.text != "true" && value.text != "True") add(launch, value.text, value);
    }
  }
  if (const Node* type = config.find("accelerator_type")) {
    put(launch, "container.gpu", std::string(gpu_of_label("accelerator", type->text)), type->where);
  }
  return launch;
}

/// The release in "vllm==0.5.4" of a list of packages.
void take_release(const Node* packages, LaunchCommand& launch) {
  constexpr std::string_view name = "vllm==";
  if (packages == nullptr) return;
  for (const Node& package : packages->items) {
    if (package.text.starts_with(name)) {
      put(launch, "container.version", package.text.substr(name.size()), package.where);
    }
  }
}

/// A program of its own that is told what to serve by variables, as KubeRay's samples have it
/// (ray-operator/config/samples/vllm/serve.py).
LaunchCommand program_launch(const Node& application) {
  const Node* variables = below(&application, {"runtime_env", "env_vars"});
  const Node* model = below(variables, {"MODEL_ID"});
  if (model == nullptr) return {};
  LaunchCommand launch = vllm(application);
  add(launch, model->text, *model);
  for (const auto& [name, option] : {std::pair{"TENSOR_PARALLELISM", "--tensor-parallel-size"},
                                     std::pair{"PIPELINE_PARALLELISM", "--pipeline-parallel-size"}}) {
    const Node* value = below(variables, {name});
    if (value == nullptr) continue;
    add(launch, option, *value);
    add(launch, value->text, *value);
  }
  take_release(below(&application, {"runtime_env", "pip"}), launch);
  return launch;
}

void take_applications(const Node& serve, std::vector<LaunchCommand>& found) {
  const Node* applications = serve.find("applications");
  if (applications == nullptr) return;
  for (const Node& application : applications->items) {
    const Node* configs = below(&application, {"args", "llm_configs"});
    if (configs != nullptr) {
      for (const Node& config : configs->items) found.push_back(llm_launch(config));
    } else if (auto launch = program_launch(application); !launch.words.empty()) {
      found.push_back(std::move(launch));
    }
  }
}

/// The lines of a file inside a file are counted from that file's first.
void move_lines(std::vector<LaunchCommand>& launches, int lines, std::string_view place) {
  for (LaunchCommand& launch : launches) {
    for (ShellWord& word : launch.words) word.line += lines;
    for (Setting& setting : launch.launcher.all()) {
      setting.where = std::string(place) + ":" + std::to_string(line_of(setting.where) + lines);
    }
  }
}

}  // namespace

std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place) {
  std::vector<LaunchCommand> found;
  take_applications(file, found);
  const auto take_service = [&](const Node& object) {
    const Node* text = below(&object, {"spec", "serveConfigV2"});
    if (text == nullptr) return;
    std::vector<LaunchCommand> inner;
    take_applications(parse_yaml(text->text, place), inner);
    move_lines(inner, line_of(text->where), place);
    std::ranges::move(inner, std::back_inserter(found));
  };
  take_service(file);
  for (const Node& object : file.items) take_service(object);
  return found;
}

}  // namespace llmcalc::dialects
