// Every rule of layouts, with a layout on its edge that is legal and the step beyond it that is not.
#include "catch.hpp"
#include "frameworks/layout_rules.hpp"
#include "read/typed.hpp"
#include "read/vocabulary.hpp"

#include <set>
#include <string>
#include <utility>

using namespace llmcalc;

namespace {

struct Edge {
  std::string_view term, other;  ///< of the rule
  std::string legal;             ///< words of a layout that keeps it
  std::string beyond;            ///< words that are changed to break it
};

const std::string dense =
    "--layers 4 --hidden 512 --heads 8 --kv-heads 4 --head-dim 64 --ffn 2048 --vocab 32000 --seq 1024";
const std::string experts = dense + " --experts 8 --top-k 8 --expert-ffn 512";
const std::string two_stacks = "--model t5-small --seq 512";

const Edge edges[] = {
    {"offload", "sharding", dense + " --framework deepspeed --gpus 8 --sharding zero3 --offload params",
     "--sharding zero2"},
    {"offload", "sharding", dense + " --framework hf --gpus 8 --sharding zero3 --offload params", "--sharding zero1"},
    {"offload", "sharding", dense + " --framework trl --gpus 2 --sharding fsdp2 --offload params", "--sharding ddp"},
    {"offload", "sharding", dense + " --framework megatron --gpus 8 --sharding zero1 --offload optimizer",
     "--sharding ddp"},
    {"cp", "sharding", dense + " --framework trl --gpus 8 --cp 2 --sharding fsdp2", "--sharding ddp"},
    {"cp", "sharding", dense + " --framework hf --gpus 8 --cp 2 --cp-exchange all-to-all --sharding zero3",
     "--sharding fsdp2"},
    {"cp", "algorithm", dense + " --framework trl --gpus 8 --cp 2 --sharding fsdp2 --algorithm sft",
     "--algorithm grpo"},
    {"offload", "recompute", dense + " --framework llama-factory --recompute full --offload activations",
     "--recompute none"},
    {"offload", "recompute", dense + " --framework hf --recompute full --offload activations", "--recompute none"},
    {"offload", "recompute", dense + " --framework unsloth --recompute full --offload activations", "--recompute none"},
    {"gpus", "weights", dense + " --framework litgpt --method qlora --gpus 1", "--gpus 2"},
    {"offload_to", "offload", dense + " --offload optimizer --offload-to nvme", "--offload activations"},
    {"offload_to", "offload", dense + " --offload params --offload-to nvme", "--offload none"},
    {"offload_to", "framework",
     dense + " --framework deepspeed --gpus 8 --sharding zero3 --offload optimizer --offload-to nvme",
     "--sharding zero2"},
    {"expert_overlap", "vpp",
     experts + " --framework megatron --gpus 16 --pp 2 --vpp 2 --ep 8 --grad-accum 2 --expert-overlap 1", "--vpp 1"},
    {"expert_overlap", "recompute", experts + " --framework megatron --gpus 8 --ep 8 --expert-overlap 1",
     "--recompute full"},
    {"cuda_graph", "recompute", experts + " --framework megatron --gpus 8 --ep 8 --cuda-graph scoped",
     "--recompute full"},
    {"cuda_graph", "offload", dense + " --framework megatron --gpus 8 --cuda-graph full", "--offload activations"},
    {"cuda_graph", "framework", dense + " --framework megatron --gpus 8 --cuda-graph full", "--framework deepspeed"},
    {"grad_accum", "optimizer", dense + " --optimizer lomo --grad-accum 1", "--grad-accum 2"},
    {"cp", "method", dense + " --method prompt --gpus 2", "--cp 2"},
    {"sp", "method", dense + " --method prefix --gpus 2 --tp 2", "--sp 1"},
    {"recompute", "method", dense + " --method prefix", "--recompute full"},
    {"reshard", "sharding", dense + " --gpus 8 --sharding hsdp --reshard 0", "--sharding zero3"},
    {"sharding", "pp", dense + " --framework deepspeed --gpus 8 --pp 2 --sharding zero1", "--sharding zero2"},
    {"sharding", "pp", dense + " --framework deepspeed --gpus 8 --pp 1 --sharding zero2", "--pp 2"},
    {"ep", "experts", experts + " --gpus 16 --ep 8", "--ep 16"},
    {"ep", "experts", experts + " --gpus 8 --ep 4", "--ep 3"},
    {"ep", "experts", dense + " --gpus 8 --ep 1", "--ep 2"},
    {"sp", "tp", dense + " --gpus 2 --tp 2 --sp 1", "--tp 1"},
    {"vpp", "pp", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 2", "--pp 1"},
    {"pp", "layers", dense + " --gpus 4 --pp 4", "--pp 5"},
    {"nodes", "gpus", dense + " --gpus 8 --nodes 4", "--nodes 3"},
    {"etp", "expert_ffn", experts + " --gpus 4 --tp 4 --etp 4", "--expert-ffn 510"},
    {"etp", "gpus", experts + " --gpus 4 --tp 2 --ep 1 --etp 4", "--etp 8"},
    {"ep", "gpus", experts + " --gpus 4 --tp 2 --ep 4 --etp 1", "--etp 2"},
    {"tp", "heads", dense + " --gpus 4 --tp 4", "--heads 6"},
    {"tp", "kv_heads", dense + " --gpus 4 --tp 4", "--kv-heads 2"},
    {"tp", "kv_heads", dense + " --framework megatron --gpus 8 --tp 8 --kv-heads 2", "--framework-version core-0.15"},
    {"tp", "kv_heads", dense + " --framework megatron --gpus 8 --tp 8 --kv-heads 2", "--framework torchtitan"},
    {"tp", "kv_heads", dense + " --framework nemo --heads 12 --gpus 4 --tp 4", "--tp 6"},
    {"tp", "ffn", dense + " --gpus 4 --tp 4", "--ffn 2046"},
    {"cp", "seq", dense + " --gpus 4 --cp 4", "--seq 1022"},
    {"sp", "seq", dense + " --gpus 4 --tp 2 --cp 2 --sp 1", "--seq 1022"},
    {"cp", "heads", dense + " --kv-heads 8 --gpus 4 --tp 2 --cp 2 --cp-exchange all-to-all", "--cp 8"},
    {"cp", "kv_heads", dense + " --gpus 4 --tp 2 --cp 2 --cp-exchange all-to-all", "--kv-heads 2"},
    {"schedule", "vpp", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 2", "--schedule gpipe"},
    {"schedule", "vpp", dense + " --gpus 2 --pp 2 --schedule zero-bubble --grad-accum 2", "--vpp 2"},
    {"vpp", "layers", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 2", "--layers 3"},
    {"vpp", "grad_accum", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 4", "--grad-accum 3"},
    {"first_stage_layers", "pp", dense + " --gpus 2 --pp 2 --first-stage-layers 3", "--pp 1"},
    {"last_stage_layers", "pp", dense + " --gpus 2 --pp 2 --last-stage-layers 3", "--pp 1"},
    {"first_stage_layers", "model", two_stacks + " --gpus 2 --pp 2", "--first-stage-layers 2"},
    {"last_stage_layers", "model", two_stacks + " --gpus 2 --pp 2", "--last-stage-layers 2"},
    {"first_stage_layers", "vpp", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 2 --first-stage-layers 2",
     "--first-stage-layers 1"},
    {"last_stage_layers", "vpp", dense + " --gpus 2 --pp 2 --vpp 2 --grad-accum 2 --last-stage-layers 2",
     "--last-stage-layers 1"},
    {"first_stage_layers", "layers", dense + " --gpus 3 --pp 3 --first-stage-layers 2", "--first-stage-layers 3"},
    {"last_stage_layers", "layers", dense + " --gpus 3 --pp 3 --last-stage-layers 2", "--last-stage-layers 1"},
    {"first_stage_layers", "layers", dense + " --gpus 2 --pp 2 --first-stage-layers 3 --last-stage-layers 1",
     "--last-stage-layers 2"},
    {"sharding_group", "sharding", dense + " --gpus 4 --sharding zero1 --sharding-group 2", "--sharding ddp"},
    {"sharding_group", "dp", dense + " --gpus 8 --sharding zero1 --sharding-group 4", "--sharding-group 3"},
    {"sharding_group", "dp", dense + " --gpus 8 --cp 2 --sharding zero1 --sharding-group 8", "--cp 1 --dp 4"},
};

/// The question with some of its words said otherwise, as no command line would let it pass.
spec::Question changed(spec::Question question, const std::string& changes) {
  for (const auto& word : test::words(changes)) {
    const read::Term* term = read::find_term(word.term);
    REQUIRE(term != nullptr);
    term->apply(question, word.text, "test");
  }
  return question;
}

frameworks::LayoutUse use_of(const spec::Question& question) {
  return {question.model.shape, question.training, question.layout};
}

}  // namespace

TEST_CASE("a layout on the edge of a rule is legal, and one beyond it names the rule") {
  for (const Edge& edge : edges) {
    CAPTURE(edge.legal, edge.beyond);
    const spec::Question question = test::ask(edge.legal).question;
    CHECK(frameworks::broken_rule(use_of(question)) == nullptr);
    const spec::Question beyond = changed(question, edge.beyond);
    const auto* rule = frameworks::broken_rule(use_of(beyond));
    REQUIRE(rule != nullptr);
    CHECK(rule->term == edge.term);
    CHECK(rule->other == edge.other);
  }
}

// A search asks a rule when what it looks at has been chosen, whatever else is chosen later.
TEST_CASE("a rule looks at nothing but what it says") {
  using frameworks::LooksAt;
  const std::pair<LooksAt, std::string> changes[] = {{LooksAt::order, "--vpp 7"},
                                                     {LooksAt::order, "--schedule gpipe"},
                                                     {LooksAt::order, "--sp 1"},
                                                     {LooksAt::order, "--grad-accum 3"},
                                                     {LooksAt::states, "--sharding fsdp2"},
                                                     {LooksAt::states, "--reshard 0"},
                                                     {LooksAt::states, "--sharding-group 3"},
                                                     {LooksAt::states, "--offload activations"},
                                                     {LooksAt::states, "--offload-to nvme"},
                                                     {LooksAt::policy, "--micro-batch 5"},
                                                     {LooksAt::policy, "--recompute full"}};
  const auto sees = [](LooksAt rule, LooksAt change) { return rule == LooksAt::policy || rule == change; };
  for (const Edge& edge : edges) {
    const spec::Question legal = test::ask(edge.legal).question;
    for (const auto& question : {legal, changed(legal, edge.beyond)}) {
      for (const auto& [what, change] : changes) {
        const spec::Question other = changed(question, change);
        for (const auto& rule : frameworks::layout_rules()) {
          if (sees(rule.looks_at, what)) continue;
          CAPTURE(rule.term, rule.other, change);
          CHECK(rule.broken(use_of(other)) == rule.broken(use_of(question)));
        }
        for (const auto part : {LooksAt::ranks, LooksAt::order, LooksAt::states, LooksAt::policy}) {
          if (sees(part, what)) continue;
          CHECK(frameworks::broken_rule(use_of(other), part) == frameworks::broken_rule(use_of(question), part));
        }
      }
    }
  }
}

TEST_CASE("rules asked part by part are all rules") {
  using frameworks::LooksAt;
  for (const Edge& edge : edges) {
    const spec::Question beyond = changed(test::ask(edge.legal).question, edge.beyond);
    const auto* broken = frameworks::broken_rule(use_of(beyond));
    REQUIRE(broken != nullptr);
    CHECK(frameworks::broken_rule(use_of(beyond), broken->looks_at) == broken);
  }
}

TEST_CASE("no rule is without its edge") {
  std::set<std::pair<std::string_view, std::string_view>> walked;
  for (const Edge& edge : edges) walked.emplace(edge.term, edge.other);
  for (const auto& rule : frameworks::layout_rules()) {
    CAPTURE(rule.term, rule.other);
    CHECK(walked.contains({rule.term, rule.other}));
  }
}

TEST_CASE("Megatron counts the ends of a pipeline as layers where that makes it even") {
  // 62 layers, the embedding and the loss on four stages of 16 (Megatron-LM transformer_block.py,
  // get_num_layers_to_build).
  const auto counts = [](const std::string& words) {
    const auto q =
        test::ask("--layers 62 --hidden 512 --heads 8 --ffn 2048 --vocab 32000 --seq 1024 " + words).question;
    return frameworks::counts_ends_as_layers({q.model.shape, q.training, q.layout});
  };
  CHECK(counts("--framework megatron --gpus 4 --pp 4"));
  CHECK_FALSE(counts("--framework megatron --gpus 2 --pp 2"));
  CHECK_FALSE(counts("--framework torchtitan --gpus 4 --pp 4"));
  CHECK_FALSE(counts("--framework megatron --gpus 4 --pp 4 --first-stage-layers 14"));
}
