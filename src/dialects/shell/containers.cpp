#include "dialects/shell/containers.hpp"

#include "dialects/shell/container_words.hpp"
#include "dialects/shell/starters.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// What an image runs where nothing else is said, by a part of its name.
struct Image {
  std::string_view name;
  std::string_view program;
};

constexpr Image images[] = {{"vllm-openai", "vllm serve"},        {"vllm", "vllm serve"},
                            {"huggingfaceserver", "vllm serve"},  {"llm-d", "vllm serve"},
                            {"llama.cpp:server", "llama-server"}, {"llama.cpp", "llama-server"},
                            {"sglang", "sglang serve"},           {"tensorrt-llm", "trtllm-serve"},
                            {"ollama/ollama", "ollama serve"}};

/// Options of docker run that take no value (docs.docker.com/reference/cli/docker/container/run).
constexpr std::array<std::string_view, 11> bare_options{
    "-d", "--detach", "--rm", "-it", "-i", "-t", "--init", "--tty", "--privileged", "--interactive", "-ti"};

std::vector<ShellWord> words_of(std::string_view text, int line) {
  const auto word = [&](std::string_view piece) { return ShellWord{std::string(piece), line, {}}; };
  return quantity::mapped(quantity::pieces_of(text, " "), word);
}

/// "v0.7.2" behind the colon is a release, and so it is in "vllm-openai_v0.7.2.sif"; "latest" is none.
std::string version_of(const std::string& image) {
  auto at = image.rfind(':');
  if (at == std::string::npos) at = image.rfind("_v");
  if (at == std::string::npos) at = image.rfind("-v");
  if (at == std::string::npos) return {};
  std::string tag = image.substr(at + 1);
  if (tag.starts_with('v')) tag.erase(0, 1);
  if (tag.empty() || !quantity::is_digit(tag.front()) || tag.find('.') == std::string::npos) return {};
  tag = quantity::without_end(tag.substr(0, tag.find_first_of("-_+")), ".sif");
  const bool is_release = std::ranges::all_of(tag, [](char c) { return quantity::is_name_char(c) || c == '.'; });
  const bool is_month = tag.find('.') == 2 && tag.size() == 5 && tag.front() != '0';  // "25.11" of NVIDIA's containers
  return is_release && !is_month ? tag : std::string();
}

/// "NAME=value" as a variable of the container.
void put_variable(std::string_view text, const std::string& where, Settings& options) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return;
  const std::string value(text.substr(equals + 1));
  options.put({"environment." + std::string(text.substr(0, equals)), value, {}, where, {}});
}

/// What stands behind "=", or in the next word, which is taken with it.
std::string docker_value(const std::vector<ShellWord>& words, std::size_t flag_size, std::size_t& at) {
  const std::string& text = words[at].text;
  if (flag_size < text.size()) return text.substr(flag_size + 1);
  const bool bare = quantity::contains(bare_options, text);
  return bare || at + 1 >= words.size() ? std::string() : words[++at].text;
}

void take_docker_option(const std::vector<ShellWord>& words, std::string_view place, std::size_t& at,
                        Settings& options) {
  const std::string flag = words[at].text.substr(0, words[at].text.find('='));
  const std::string where = place_of(place, words[at], flag);
  const std::string value = docker_value(words, flag.size(), at);
  if (flag == "-e" || flag == "--env") put_variable(value, where, options);
  if (flag == "--gpus") options.put({"container.gpus", count_of(value), {}, where, {}});
  ++at;
}

}  // namespace

LaunchCommand container_launch(const ShellWord& image, std::vector<ShellWord> words, std::string_view place) {
  LaunchCommand launch;
  const auto* known = quantity::find_if_or_null(
      images, [&](const Image& each) { return image.text.find(each.name) != std::string::npos; });
  const bool is_program = !words.empty() && words.front().unknown.empty() && !words.front().text.starts_with('-') &&
                          words.front().text.find('/') == std::string::npos;
  const bool named = !words.empty() && (is_program || words.front().text.starts_with("/"));
  if (known != nullptr && !named) {
    for (auto& word : words_of(known->program, image.line)) launch.words.push_back(std::move(word));
  }
  for (auto& word : words) launch.words.push_back(std::move(word));
  if (known != nullptr) put(launch, "container.version", version_of(image.text), place_of(place, image, image.text));
  return launch;
}

std::vector<ShellWord> without_shell(std::vector<ShellWord> words, std::string_view place) {
  if (words.size() < 3 || !base_name(words[0].text).ends_with("sh") || !words[1].text.starts_with("-")) return words;
  const int line = words[2].line;
  auto script = parse_shell(words[2].text, place);
  if (script.commands.empty()) return words;
  const auto is_known = [&](const ShellCommand& command) {
    return starter_of(unwrapped(command, place).words).starter != nullptr;
  };
  const auto known = std::find_if(script.commands.rbegin(), script.commands.rend(), is_known);
  auto found = std::move((known == script.commands.rend() ? script.commands.back() : *known).words);
  for (auto& word : found) word.line = line;
  return found;
}

LaunchCommand docker_launch(const std::vector<ShellWord>& words, std::size_t from, std::string_view place) {
  Settings options;
  std::size_t at = from;
  while (at < words.size() && words[at].text.starts_with('-')) take_docker_option(words, place, at, options);
  if (at >= words.size()) return {};
  LaunchCommand launch =
      container_launch(words[at], {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}, place);
  for (const Setting& option : options.all()) {
    if (!option.text.empty()) launch.launcher.put(option);
  }
  return launch;
}

}  // namespace llmcalc::dialects
