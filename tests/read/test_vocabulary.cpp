// The vocabulary is the measured-run schema plus what a command line needs; every row reads what it shows.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <set>
#include <string>

using namespace llmcalc;
using quantity::BadInput;
using read::find_term;
using read::vocabulary;

namespace {

/// The question columns of the measured-run schema, as its tables list them.
constexpr std::string_view schema_columns =
    "model layers hidden heads kv_heads head_dim ffn vocab max_position mlp norm position bias tied dropout experts "
    "top_k expert_ffn shared_ffn dense_layers params framework framework_version method lora_rank lora_targets weights "
    "compute autocast grads optimizer optimizer_impl optimizer_states seq micro_batch grad_accum global_batch "
    "recompute recompute_modules attention compile fused_kernels loss offload gpu gpus nodes dp tp sp pp vpp cp ep etp "
    "sharding sharding_group inter_node_gbps";

/// What the command line knows beyond the schema's question.
constexpr std::string_view other_terms =
    "config dtype zero gpus_per_node inter_node node_dispatch expert_overlap data_overlap master_weights "
    "master_type colocate_fraction samples_by_engine eval_batch save_checkpoint "
    "recompute_kept optimizer_rank moe_every "
    "norms_per_layer qk_norm "
    "parallel_residual window "
    "full_every "
    "q_lora_rank kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim rank context_bytes nccl_bytes workspace "
    "reserved_ratio "
    "schedule first_stage_layers last_stage_layers cp_exchange lora_dropout algorithm reference "
    "virtual_tokens adapter_width exclude_modules target_parameters rank_pattern layers_to_transform "
    "lora_bias modules_to_save trainable_tokens moe_imbalance transformer_impl grouped_experts deterministic "
    "mtp_num_layers mtp_use_repeated_layer "
    "launch_blocking "
    "optimizer_in_backward "
    "tokens samples epochs sample_tokens packing steps mfu price memory host_memory "
    "activations mtbf checkpoint_interval "
    "checkpoint_bandwidth restart_time power pue "
    "carbon_intensity offload_to nvme_bandwidth reshard as freeze text_only images image_size patches "
    "offload_layers cuda_graph fp8_scaling fp8_attention fp8_head softmax_fusion document_length "
    "unquantized";

void insert_words(std::set<std::string_view>& words, std::string_view text) {
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    words.insert(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

std::string shown_after(std::string_view name, std::string_view text) {
  spec::Question question;
  question.model.shape.towers.emplace_back();  // some terms are about towers only
  const auto* term = find_term(name);
  REQUIRE(term != nullptr);
  term->apply(question, text, "--x");
  return term->show(question);
}

/// Words that a term must accept, each of them shown as typed.
struct Typed {
  std::string_view term;
  std::vector<std::string_view> texts;
};

const Typed typed[] = {
    {"layers", {"1", "32", "100000"}},
    {"seq", {"1", "4096", "2147483647"}},
    {"bias", {"all", "none", "qkv"}},
    {"tied", {"0", "1"}},
    {"dropout", {"0", "0.1", "1"}},
    {"experts", {"0", "8"}},
    {"lora_targets", {"q,v", "all-linear", "q,k,v,o,gate,up,down,fc1,fc2,embed,head"}},
    {"weights", {"fp32", "bf16", "fp16", "nf4", "nf4-dq", "int4-gptq", "int8-gptq", "int8"}},
    {"compute", {"bf16", "fp16", "fp32", "mxfp8", "nvfp4"}},
    {"optimizer_states", {"fp32", "bf16", "fp16", "int8", "int4"}},
    {"recompute", {"none", "selective", "full", "every-2", "uniform-6", "block-1"}},
    {"recompute_modules", {"mla_up_proj,mlp"}},
    {"recompute_kept", {"query,key,value,context,out,gate,up,down"}},
    {"inter_node_gbps", {"3200"}},
    {"tokens", {"1.5e+13", "20x", "0.5x"}},
    {"mfu", {"0.4"}},
    {"memory", {"85899345920"}},
    {"host_memory", {"137438953472"}},
    {"mtbf", {"50000h", "none"}},
    {"checkpoint_interval", {"1138s"}},
    {"checkpoint_bandwidth", {"10GB/s"}},
    {"restart_time", {"0s", "600s"}},
    {"power", {"700W"}},
    {"pue", {"1", "1.1"}},
    {"carbon_intensity", {"400g/kWh", "0g/kWh"}},
    {"activations", {"program", "none", "rule-of-thumb"}},
};

}  // namespace

TEST_CASE("the vocabulary is the schema's question columns and what a command line adds") {
  std::set<std::string_view> expected;
  insert_words(expected, schema_columns);
  insert_words(expected, other_terms);
  const auto names = read::all_term_names();
  const std::set<std::string_view> actual(names.begin(), names.end());
  CHECK(actual == expected);
  CHECK(names.size() == actual.size());
}

TEST_CASE("a term is found by its column and by its flag") {
  CHECK(find_term("kv_heads") == find_term("kv-heads"));
  CHECK(find_term("kv_heads")->name == "kv_heads");
  CHECK(find_term("kv heads") == nullptr);
  CHECK(find_term("") == nullptr);
}

TEST_CASE("a term shows what was typed") {
  for (const auto& [term, texts] : typed) {
    for (const auto text : texts) {
      INFO(term << " = " << text);
      CHECK(shown_after(term, text) == text);
    }
  }
}

TEST_CASE("every word of a closed vocabulary reads back as itself") {
  for (const auto& term : vocabulary()) {
    if (term.words == nullptr) continue;
    for (const auto word : term.words()) {
      if (word.ends_with("-N")) continue;
      INFO(term.name << " = " << word);
      CHECK(shown_after(term.name, word) == word);
    }
  }
}

TEST_CASE("what a term shows of any question it reads back unchanged") {
  spec::Question question;
  question.model.shape.max_position = 8192;
  question.training.adapter.rank = 16;
  question.training.adapter.targets = {"q", "v"};
  question.pricing.data.tokens = quantity::tokens(1.5e12);
  question.pricing.price_per_hour = quantity::dollars(2.39);
  question.layout.inter_node_gbps = 400.0;
  for (const auto& term : vocabulary()) {
    if (term.apply == nullptr) continue;
    const std::string text = term.show(question);
    if (text.empty()) continue;
    INFO(term.name << " = " << text);
    spec::Question other;
    term.apply(other, text, "--x");
    CHECK(term.show(other) == text);
  }
}

TEST_CASE("text outside a term's range is refused at its place") {
  const std::pair<std::string_view, std::vector<std::string_view>> refused[] = {
      {"layers", {"0", "-1", "1.5", "100001", "nan", "inf", "1e30", "", "x"}},
      {"hidden", {"0", "2147483648", "99999999999999999999"}},
      {"seq", {"0", "-1", "nan", "8kk"}},
      {"dropout", {"-0.1", "1.1", "nan"}},
      {"mfu", {"0", "1.01", "inf"}},
      {"inter_node_gbps", {"0", "-1", "nan", "400Gbps"}},
      {"tokens", {"0", "0x", "1e300", "nanx", "-1"}},
      {"samples", {"1e19", "nan"}},
      {"epochs", {"0", "-1", "nan"}},
      {"steps", {"0", "1e19"}},
      {"sample_tokens", {"0.5", "nan"}},
      {"price", {"-1", "inf"}},
      {"memory", {"0", "-80GB", "1e30GB"}},
      {"host_memory", {"0", "-80GB", "1e30GB"}},
      {"lora_targets", {"", "q,,v", "z"}},
      {"recompute_modules", {"", "mlp,,moe", "attention"}},
      {"recompute", {"every-0", "every-", "every-x", "half", "all-2", "block"}},
      {"weights", {"fp64", "nonsense"}},
      {"tied", {"2", "maybe"}},
  };
  for (const auto& [name, texts] : refused) {
    for (const auto text : texts) {
      INFO(name << " = " << text);
      spec::Question question;
      try {
        find_term(name)->apply(question, text, "--here");
        FAIL("accepted");
      } catch (const BadInput& error) {
        CHECK(error.place() == "--here");
      }
    }
  }
}

TEST_CASE("an unknown word is answered with the known ones and the nearest") {
  spec::Question question;
  try {
    find_term("mlp")->apply(question, "swiglo", "--mlp");
    FAIL("accepted");
  } catch (const BadInput& error) {
    CHECK(error.problem() == "'swiglo' is not one of gelu, relu, squared-relu, swiglu, geglu, reglu");
    CHECK_THAT(error.hint(), Catch::Matchers::Contains("swiglu"));
  }
}

TEST_CASE("how a run is operated is read as people write it") {
  CHECK(shown_after("mtbf", "50000") == "50000h");
  CHECK(shown_after("mtbf", "2000 days") == "48000h");
  CHECK(shown_after("checkpoint_interval", "5min") == "300s");
  CHECK(shown_after("restart_time", "2h") == "7200s");
  CHECK(shown_after("checkpoint_bandwidth", "2TB/s") == "2000GB/s");
  CHECK(shown_after("power", "0.7kW") == "700W");
  CHECK(shown_after("carbon_intensity", "0.4kg/kWh") == "400g/kWh");
  CHECK(shown_after("carbon_intensity", "400") == "400g/kWh");
  CHECK(shown_after("carbon_intensity", "world") == "473g/kWh");
}

TEST_CASE("an operation that cannot be is refused") {
  spec::Question question;
  const auto refused = [&](std::string_view term, std::string_view text) {
    CHECK_THROWS_AS(find_term(term)->apply(question, text, "--x"), BadInput);
  };
  refused("mtbf", "0");
  refused("mtbf", "never");
  refused("mtbf", "");
  refused("checkpoint_interval", "0s");
  refused("checkpoint_interval", "30");
  refused("checkpoint_bandwidth", "0GB/s");
  refused("pue", "0.9");
  refused("carbon_intensity", "-1");
  CHECK_THROWS_WITH(find_term("carbon_intensity")->apply(question, "wrld", "--x"),
                    "--x: expected g/kWh, as 400 or 0.4kg/kWh, or world, found 'wrld'; did you mean 'world'?");
}
