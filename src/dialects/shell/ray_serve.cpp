// Ray Serve: the servers of its configurations, by themselves or inside a RayService of Kubernetes.
#include "dialects/shell/containers.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace llmcalc::dialects {
namespace {

LaunchCommand vllm(const Node& because) {
  LaunchCommand launch;
  add_words(launch, because, {"vllm", "serve"});
  return launch;
}

/// ray.serve.llm's LLMConfig: engine_kwargs are the engine's own arguments, vLLM's unless another serves (ray
/// llm/_internal/serve/core/configs/llm_config.py, server_cls).
LaunchCommand llm_launch(const Node& config) {
  const Node* server = config.find("server_cls");
  const bool by_sglang = server != nullptr && quantity::to_lower(server->text).find("sglang") != std::string::npos;
  LaunchCommand launch;
  if (by_sglang) add_words(launch, *server, {"sglang.launch_server", "--model-path"});
  if (!by_sglang) launch = vllm(config);
  const Node* source = below(&config, {"model_loading_config", "model_source"});
  if (source == nullptr || source->text.empty()) source = below(&config, {"model_loading_config", "model_id"});
  if (source != nullptr) add_words(launch, *source, {source->text});
  if (const Node* options = config.find("engine_kwargs")) {
    for (const auto& [name, value] : options->members) {
      if (value.kind != Node::Kind::value) continue;
      add_words(launch, value, {"--" + name});
      if (value.text != "true" && value.text != "True") add_words(launch, value, {value.text});
    }
  }
  if (const Node* type = config.find("accelerator_type")) {
    put(launch, "container.gpu", std::string(gpu_of_label("accelerator", type->text)), type->where);
  }
  return launch;
}

/// A configuration written where it is used, or in a file of its own that is named there.
LaunchCommand llm_of(const Node& config, const FindFile& find) {
  if (config.kind != Node::Kind::value) return llm_launch(config);
  const auto file = find(config.text);
  LaunchCommand launch = file ? llm_launch(parse_yaml(file->text, file->place)) : vllm(config);
  if (!file) launch.assumed.push_back(fmt::format("{} is not here: what it says is left open", config.text));
  for (ShellWord& word : launch.words) word.line = line_of(config.where);
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
  add_words(launch, *model, {model->text});
  for (const auto& [name, option] : {std::pair{"TENSOR_PARALLELISM", "--tensor-parallel-size"},
                                     std::pair{"PIPELINE_PARALLELISM", "--pipeline-parallel-size"}}) {
    const Node* value = below(variables, {name});
    if (value == nullptr) continue;
    add_words(launch, *value, {option, value->text});
  }
  take_release(below(&application, {"runtime_env", "pip"}), launch);
  return launch;
}

void take_applications(const Node& serve, const FindFile& find, std::vector<LaunchCommand>& found) {
  const Node* applications = serve.find("applications");
  if (applications == nullptr) return;
  for (const Node& application : applications->items) {
    const Node* arguments = application.find("args");
    const Node* configs = below(arguments, {"llm_configs"});
    const std::size_t before = found.size();
    if (configs != nullptr) {
      for (const Node& config : configs->items) found.push_back(llm_of(config, find));
    }
    for (const auto name : {"llm_config", "prefill_config", "decode_config"}) {
      if (const Node* config = below(arguments, {name})) found.push_back(llm_of(*config, find));
    }
    if (found.size() > before) continue;
    if (auto launch = program_launch(application); !launch.words.empty()) {
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

std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place, const FindFile& find) {
  if (file.find("model_loading_config") != nullptr) return {llm_launch(file)};
  std::vector<LaunchCommand> found;
  take_applications(file, find, found);
  const auto take_service = [&](const Node& object) {
    const Node* text = below(&object, {"spec", "serveConfigV2"});
    if (text == nullptr) return;
    std::vector<LaunchCommand> inner;
    take_applications(parse_yaml(text->text, place), find, inner);
    move_lines(inner, line_of(text->where), place);
    std::ranges::move(inner, std::back_inserter(found));
  };
  take_service(file);
  for (const Node& object : file.items) take_service(object);
  return found;
}

}  // namespace llmcalc::dialects
