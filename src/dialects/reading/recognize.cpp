
#include "dialects/reading/readers.hpp"
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

namespace llmcalc::dialects {
namespace {

/// TOML has tables in brackets on lines of their own and '=' behind its keys.
bool looks_like_toml(std::string_view text) {
  bool table = false;
  bool equals = false;
  for (std::string_view line; take_line(text, line);) {
    table = table || (line.starts_with('[') && line.ends_with(']') && line.find_first_of(",'\" ") == line.npos);
    equals = equals || line.find(" = ") != line.npos;
  }
  return table && equals;
}

/// "{key: value}", which is YAML: keys of JSON are in quotes. So are those of GPT-NeoX's files, whose names say YAML.
bool is_flow_of_yaml(std::string_view body, std::string_view place) {
  if (!body.starts_with('{')) return false;
  if (place.ends_with(".yml") || place.ends_with(".yaml")) return true;
  const auto first = quantity::trim(body.substr(1));
  return !first.empty() && std::isalpha(static_cast<unsigned char>(first.front())) != 0;
}

/// "key: {name}" and "key: {{ name }}" of a template, which YAML takes for a table without values, as the text that it
/// is.
std::string with_placeholders(std::string_view text) {
  const auto is_of_name = [](char c) { return quantity::is_name_char(c) || c == '.' || c == ' '; };
  std::string all;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    const auto at = std::min(line.find(": {"), line.size());
    const auto value = quantity::trim(line.substr(at, line.find(" #", at) - at));
    const auto name = value.substr(std::min(value.find_first_not_of(":{ "), value.size()));
    const auto end = name.find('}');
    const bool stands_for = end != name.npos && end > 0 && std::ranges::all_of(name.substr(0, end), is_of_name) &&
                            name.find_first_not_of('}', end) == name.npos;
    all.append(line.substr(0, at));
    if (stands_for) {
      all.append(": '").append(quantity::trim(value.substr(1))).append("'");
    } else {
      all.append(line.substr(at));
    }
    all += '\n';
  }
  return all;
}

std::optional<std::string> commands_in_blocks(std::string_view text) {
  std::string script;
  bool inside = false;
  bool any = false;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    const auto trimmed = quantity::trim(line);
    if (!inside && is_line_of_python(line)) return std::nullopt;  // a program with a page in its text
    const bool fence = trimmed.starts_with("```");
    const bool code = inside && !fence && !is_line_of_python(line);
    if (code) script += quantity::without_start(trimmed, "$ ");
    script += '\n';
    inside = inside != fence;
    any = any || fence;
  }
  return any && !inside ? std::optional(script) : std::nullopt;
}

/// systemd.exec(5), Environment: quotes stand around an assignment, which a shell has around its value.
std::string quoted_behind_name(std::string_view variables) {
  std::string text;
  bool begins = true;
  bool quoted = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const char c = variables[i];
    const bool quotes = c == '"' || c == '\'';
    const auto equals = begins && quotes ? variables.find('=', i) : variables.npos;
    if (equals != variables.npos) {
      text.append(variables.substr(i + 1, equals - i)) += c;
      i = equals;
    } else {
      text += c;
    }
    if (quotes) quoted = !quoted;
    begins = !quoted && c == ' ';
  }
  return text;
}

/// A line of a unit, "Exec=--model \" and the next, under its key.
struct UnitLine {
  std::string_view key;
  std::string value;
  std::size_t lines = 1;
};

std::vector<UnitLine> lines_of_unit(std::string_view text) {
  std::vector<UnitLine> lines;
  bool continues = false;
  while (!text.empty()) {
    auto line = quantity::trim(quantity::take_until(text, "\n"));
    if (continues) {
      lines.back().value.append("\n").append(line);
      ++lines.back().lines;
    } else {
      const auto key = quantity::take_until(line, "=");
      lines.push_back({key, std::string(line)});
    }
    continues = lines.back().value.ends_with('\\');
  }
  return lines;
}

/// podman-systemd.unit(5): a container's image, what it is given, and the arguments behind its entry point.
std::string command_of_quadlet(const std::vector<UnitLine>& lines) {
  constexpr Spelling options[] = {
      {"Environment", "--env"}, {"AddDevice", "--device"}, {"Entrypoint", "--entrypoint"}, {"PodmanArgs", ""}};
  std::string before = "podman run";
  std::string behind;
  for (const UnitLine& line : lines) {
    if (line.key == "Image") behind.insert(0, " " + line.value);
    if (line.key == "Exec") behind.append(" ").append(line.value);
    const auto* option = quantity::find_or_null(options, line.key, &Spelling::theirs);
    if (option == nullptr) continue;
    const bool is_variable = line.key == "Environment";
    before.append(" ")
        .append(option->ours)
        .append(" ")
        .append(is_variable ? quoted_behind_name(line.value) : line.value);
  }
  return before + behind;
}

/// Variables of a unit hold for its command wherever they stand (systemd.exec(5)): those behind it are put before it.
std::string set_behind(const std::vector<UnitLine>& lines, const UnitLine& command) {
  std::string set;
  for (const UnitLine* line = &command; line != lines.data() + lines.size(); ++line) {
    if (line->key == "Environment" && line->lines == 1) set += "export " + quoted_behind_name(line->value) + "; ";
  }
  return set;
}

std::optional<std::string> commands_in_unit(std::string_view text) {
  const bool is_service = text.find("[Service]") != text.npos && text.find("ExecStart=") != text.npos;
  const bool is_quadlet = text.find("[Container]") != text.npos && text.find("\nImage=") != text.npos;
  if (!is_service && !is_quadlet) return std::nullopt;
  const auto lines = lines_of_unit(text);
  std::string script;
  for (const UnitLine& line : lines) {
    const auto start = std::min(line.value.find_first_not_of("-@:+!"), line.value.size());
    if (is_quadlet && line.key == "Image") script += command_of_quadlet(lines);
    if (!is_quadlet && line.key == "ExecStart") script += set_behind(lines, line) + line.value.substr(start);
    if (!is_quadlet && line.key == "Environment") script.append("export ").append(quoted_behind_name(line.value));
    script.append(is_quadlet || line.key != "ExecStart" ? line.lines : 1, '\n');
  }
  return script;
}

constexpr Spelling adapters[] = {
    {"lora", "lora"}, {"adalora", "adalora"}, {"ia3", "ia3"}, {"prompt_tuning", "prompt"}, {"prefix_tuning", "prefix"}};

/// The block of quantization in a config.json or hf_quant_config.json.
const Node* quantization_in(const Node& file) {
  for (const auto key : {"quantization_config", "compression_config", "quantization"}) {
    const Node* block = file.find(key);
    if (block != nullptr && block->kind == Node::Kind::table) return block;
  }
  return nullptr;
}

/// A file's word for a scheme, as a word of the question; one that is not known is an assumption.
struct StoredWord {
  std::string_view term;
  std::string_view ours;  ///< empty where it is not known
  std::string theirs;     ///< "weights quantized by ..."
};

void take_stored(const StoredWord& word, const Setting& because, std::string_view place, Reading& reading) {
  const std::string where = because.where.empty() ? std::string(place) : because.where;
  if (!word.ours.empty()) {
    reading.words.push_back({std::string(word.term), std::string(word.ours), {Source::file, where}});
  } else {
    reading.assumptions.push_back(
        {fmt::format("{} ({}) are not known: say {}", word.theirs, where, spec::option_of(word.term)),
         std::string(word.term)});
  }
}

/// Inputs that share a scale, as --group-size, where whoever quantizes may choose and chose others than usual.
void take_groups(const Settings& keys, formats::Quant quant, std::string_view place, Reading& reading) {
  constexpr std::int64_t usual = 128;
  if (formats::facts(quant).group != usual) return;
  for (const std::string_view key : {"config_groups.group_0.weights.group_size", "group_size"}) {
    const Setting* setting = keys.find(key);
    if (setting == nullptr || setting->text == std::to_string(usual)) continue;
    const bool whole = setting->text == "-1";  // AutoGPTQ: a scale for all inputs of an output
    if (!whole && !quantity::is_number(setting->text)) continue;
    const auto where = fmt::format("{}:{}", place, key);
    if (whole) reading.assumptions.push_back({where + " -1: a scale for all inputs counts as one for 4,096"});
    reading.words.push_back({"group_size", whole ? "4096" : setting->text, {Source::file, where}});
    return;
  }
}

/// How the weights are quantized, as --quant, and with which scales for keys and values, as --kv-dtype.
void take_stored_quant(const Node& file, std::string_view place, Reading& reading) {
  const Node* block = quantization_in(file);
  if (block == nullptr) return;
  const Settings keys = flat(*block);
  const auto text = [&](std::string_view key, Holds) {
    const Setting* setting = keys.find(key);
    return setting == nullptr ? std::string() : setting->text;
  };
  const auto first = [&](std::string_view key, std::string_view other) -> const Setting& {
    return *keys.find(keys.has(key) ? key : other);
  };
  if (const auto stored = stored_quant(text)) {
    const std::string_view ours = stored->quant ? formats::facts(*stored->quant).name : std::string_view();
    take_stored({"quant", ours, "weights quantized by " + stored->scheme}, first("quant_method", "quant_algo"), place,
                reading);
    if (stored->quant) take_groups(keys, *stored->quant, place, reading);
  }
  if (const std::string cache = stored_cache(text); !cache.empty()) {
    take_stored({"kv_dtype", cache == "fp8" ? "fp8" : "", "keys and values in " + cache},
                first("kv_cache_quant_algo", "kv_cache_scheme.num_bits"), place, reading);
  }
}

}  // namespace

bool take_line(std::string_view& text, std::string_view& line) {
  while (!text.empty()) {
    line = quantity::trim(quantity::take_until(text, "\n"));
    if (!line.empty() && !line.starts_with('#')) return true;
  }
  return false;
}

bool looks_like_shell(std::string_view text) { return text.starts_with("#!") || text.find("#SBATCH") != text.npos; }

bool looks_like_dockerfile(std::string_view text) {
  constexpr std::string_view instructions[] = {"RUN ", "CMD ", "ENTRYPOINT ", "COPY ", "WORKDIR ", "ENV ", "EXPOSE "};
  bool from = false;
  bool builds = false;
  for (std::string_view line; take_line(text, line);) {
    from = from || line.starts_with("FROM ");
    builds = builds || std::ranges::any_of(instructions, [&](std::string_view word) { return line.starts_with(word); });
  }
  return from && builds;
}

bool begins_like_settings(std::string_view text) {
  std::string_view line;
  if (!take_line(text, line)) return true;
  const auto key = line.substr(0, line.find_first_of(" \t"));
  return line.starts_with('{') || line.starts_with('[') || line.starts_with("//") || line.starts_with("---") ||
         line.starts_with('-') || key.ends_with(':') || line.find(" = ") != line.npos;
}

Node parse_settings(std::string_view text, std::string_view place) {
  const auto body = quantity::trim(text);
  if (is_flow_of_yaml(body, place)) return parse_yaml(text, place);
  if (body.starts_with('{') || body.starts_with("//")) return parse_commented_json(text, place);
  if (looks_like_toml(text)) return parse_toml(text, place);
  return parse_yaml(with_placeholders(text), place);
}

void unwrap_wandb(Settings& settings) {
  if (!settings.has("wandb_version") && !settings.has("_wandb.value.cli_version")) return;
  Settings all;
  for (Setting setting : settings.all()) {
    const auto key = quantity::without_end(setting.key, ".value");
    if (setting.key.starts_with("_wandb") || setting.key.starts_with("wandb_") || key.size() == setting.key.size())
      continue;
    setting.key = std::string(key);
    all.put(std::move(setting));
  }
  settings = std::move(all);
}

void name_trainer(std::string_view python_class, Settings& settings) {
  const std::string name = quantity::to_lower(python_class);
  const auto words_of = [](std::string_view key) {
    return spellings_of(find_row(row_of(Dialect::trainer), key)->words);
  };
  const auto owners = words_of("arguments_of");
  const auto* owner =
      quantity::find_if_or_null(owners, [&](const Spelling& each) { return name.starts_with(each.theirs); });
  if (owner == nullptr || settings.all().empty()) return;
  const std::string where = settings.all().front().where;
  if (!owner->ours.empty()) settings.put({"arguments_of", std::string(owner->ours), {}, where});
  const auto written = std::string_view(name).substr(name.find(' ') + 1);
  const auto trainer = quantity::without_start(quantity::without_end(written, "config"), owner->theirs);
  if (!written.ends_with("config")) return;
  const auto algorithms = words_of("algorithm");
  const auto* other = quantity::find_or_null(algorithms, trainer, &Spelling::theirs);
  settings.put({"algorithm", std::string(other == nullptr ? trainer : other->ours), {}, where});
}

const Format* format_of(const Settings& settings) {
  return quantity::find_if_or_null(formats(), [&](const Format& each) { return recognizes(each, settings); });
}

std::optional<std::string> commands_in(std::string_view text) {
  auto unit = commands_in_unit(text);
  return unit ? std::move(unit) : commands_in_blocks(text);
}

void add_stored_quant(std::string_view text, std::string_view place, Reading& reading) {
  take_stored_quant(parse_commented_json(text, place), place, reading);
  if (reading.config) reading.config->quantization = text;
}

Reading weights_alone(Checkpoint weights, std::string place) {
  Reading reading;
  reading.kind = weights.kind;
  reading.place = std::move(place);
  reading.config = std::move(weights.config);
  const auto* quant = spec::find_name<formats::Quant>(weights.quantization);
  if (reading.config && quant != nullptr) {
    weights.held.quant = quant->value;
    reading.config->tensors = std::make_shared<const spec::FileTensors>(std::move(weights.held));
  }
  reading.words = std::move(weights.words);
  if (!weights.quantization.empty()) {
    reading.words.push_back({"quant", weights.quantization, {Source::file, reading.place + ":general.file_type"}});
  }
  reading.weights = std::move(weights);
  return reading;
}

std::optional<Reading> model_file(const Node& file, std::string_view text, std::string_view place) {
  const Node* peft = file.find("peft_type");
  if (peft != nullptr && peft->kind == Node::Kind::value && !peft->text.empty()) {
    return Reader(no_files).settings(row_of(Dialect::peft), flat(file), place);
  }
  if (file.find("_class_name") != nullptr && file.find("_diffusers_version") != nullptr) {
    throw quantity::BadInput(std::string(place), "is a diffusion pipeline, which is not modelled");
  }
  if (file.find("model_type") == nullptr && file.find("architectures") == nullptr) return std::nullopt;
  if (file.find("base_model") != nullptr) return std::nullopt;  // axolotl names the class of its model so
  Reading reading;
  reading.kind = "model configuration";
  reading.place = place;
  reading.config = ConfigText{std::string(place), std::string(text)};
  take_stored_quant(file, place, reading);
  return reading;
}

void peft_rules(Sheet& sheet) {
  const std::string type = sheet.text("peft_type");
  for (const auto& [theirs, ours] : adapters) {
    if (type == theirs)
      sheet.say("method", sheet.is_on("use_dora") ? "dora" : std::string(ours), *sheet.find("peft_type"));
  }
  if (!sheet.has("method")) {
    throw quantity::BadInput(sheet.find("peft_type")->where, "no method is called " + quantity::quoted(type),
                             "known are lora, adalora, ia3, prompt_tuning and prefix_tuning");
  }
  if (type == "lora" || type == "adalora") take_targets(sheet, {"target_modules"});
}

}  // namespace llmcalc::dialects
