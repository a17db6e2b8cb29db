// The terms that describe a model.
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

using spec::LatentShape;
using spec::MoeShape;
using spec::Shape;
using spec::WindowPattern;

using Dimension = Whole<1>;

/// Which linear layers carry a bias, as one word: the query, key and value projections, the output projection, the MLP.
struct Bias {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    Shape& shape = question.model.shape;
    const std::string word = quantity::to_lower(text);
    if (word != "all" && word != "none" && word != "qkv") throw_unknown_word(text, place, words());
    shape.qkv_bias = word != "none";
    shape.out_bias = word == "all";
    shape.mlp_bias = word == "all";
  }
  static std::string show(const spec::Question& question) {
    const Shape& shape = question.model.shape;
    if (shape.out_bias != shape.mlp_bias || (shape.out_bias && !shape.qkv_bias)) return {};
    if (shape.out_bias) return "all";
    return shape.qkv_bias ? "qkv" : "none";
  }
  static std::vector<std::string_view> words() { return {"all", "none", "qkv"}; }
};

bool has_towers(const spec::Question& question) { return !question.model.shape.towers.empty(); }

/// What of a multimodal model is left as it is; all its towers by any of their names.
struct Freeze {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(text);
    if (word != "none" && word != "vision" && word != "audio" && word != "towers") {
      throw_unknown_word(text, place, words());
    }
    question.training.towers = word == "none" ? spec::TowerUse::trained : spec::TowerUse::frozen;
  }
  static std::string show(const spec::Question& question) {
    if (!has_towers(question)) return {};
    return question.training.towers == spec::TowerUse::frozen ? "towers" : "none";
  }
  static std::vector<std::string_view> words() { return {"none", "towers"}; }
};

/// The text part of a multimodal model alone.
struct TextOnly {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    if (Switch::read(text, place)) question.training.towers = spec::TowerUse::absent;
  }
  static std::string show(const spec::Question& question) {
    return has_towers(question) ? Switch::write(question.training.towers == spec::TowerUse::absent) : "";
  }
};

/// Of towers; a model without any has no such question.
template <auto member>
struct OfTowers {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    question.training.*member = Dimension::read(text, place);
  }
  static std::string show(const spec::Question& question) {
    const auto value = question.training.*member;
    return has_towers(question) && value > 0 ? Dimension::write(value) : "";
  }
};

/// The preset is looked up by resolve(); what is echoed is its id.
std::string show_name(const spec::Question& question) { return question.model.shape.name; }

constexpr Term rows[] = {
    {"model", TermGroup::model, "name", nullptr, "model preset, see `llmcalc model list`", nullptr, show_name},
    term<Whole<1, max_layers>, InShape<&Shape::layers>>("layers", TermGroup::model, "transformer layers"),
    term<Dimension, InShape<&Shape::hidden>>("hidden", TermGroup::model, "width of the residual stream"),
    term<Dimension, InShape<&Shape::heads>>("heads", TermGroup::model, "attention heads"),
    term<Dimension, InShape<&Shape::kv_heads>>("kv_heads", TermGroup::model, "key and value heads; default: heads"),
    term<Dimension, InShape<&Shape::head_dim>>("head_dim", TermGroup::model,
                                               "width of a head; default: hidden / heads"),
    term<Dimension, InShape<&Shape::ffn>>("ffn", TermGroup::model, "width of the dense MLP"),
    term<Dimension, InShape<&Shape::vocab>>("vocab", TermGroup::model, "rows of the token table as stored (padded)"),
    term<Length, InShape<&Shape::max_position>>("max_position", TermGroup::model,
                                                "longest sequence the model is built for"),
    term<Word<spec::Mlp>, InShape<&Shape::mlp>>("mlp", TermGroup::model, "activation of the MLP"),
    term<Word<spec::Norm>, InShape<&Shape::norm>>("norm", TermGroup::model, "normalisation"),
    term<Word<spec::Position>, InShape<&Shape::position>>("position", TermGroup::model, "position encoding"),
    {"bias", TermGroup::model, {}, &Bias::words, "which linear layers have a bias", &Bias::apply, &Bias::show},
    term<Switch, InShape<&Shape::tied>>("tied", TermGroup::model, "token table and output head share their weights"),
    term<Share, InShape<&Shape::dropout>>("dropout", TermGroup::model, "hidden and attention dropout probability"),
    term<Whole<0>, InShape<&Shape::moe, &MoeShape::experts>>("experts", TermGroup::model,
                                                             "routed experts a layer; 0: dense"),
    term<Dimension, InShape<&Shape::moe, &MoeShape::top_k>>("top_k", TermGroup::model, "experts a token is routed to"),
    term<Dimension, InShape<&Shape::moe, &MoeShape::expert_ffn>>("expert_ffn", TermGroup::model, "width of one expert"),
    term<Whole<0>, InShape<&Shape::moe, &MoeShape::shared_ffn>>("shared_ffn", TermGroup::model,
                                                                "total width of the shared experts"),
    term<Whole<0, max_layers>, InShape<&Shape::moe, &MoeShape::dense_layers>>("dense_layers", TermGroup::model,
                                                                              "leading layers without experts"),
};

/// Structural details beyond the schema's columns.
constexpr Term structure_rows[] = {
    {"freeze",
     TermGroup::model,
     {},
     &Freeze::words,
     "towers of a multimodal model that are not trained",
     &Freeze::apply,
     &Freeze::show},
    {"text_only", TermGroup::model, Switch::values, nullptr, "leave the towers of a multimodal model out",
     &TextOnly::apply, &TextOnly::show},
    {"images", TermGroup::model, Dimension::values, nullptr, "images or clips of sound in a sample",
     &OfTowers<&spec::Training::images>::apply, &OfTowers<&spec::Training::images>::show},
    {"patches", TermGroup::model, Dimension::values, nullptr,
     "positions of an image in its tower; default: the model's", &OfTowers<&spec::Training::patches>::apply,
     &OfTowers<&spec::Training::patches>::show},
    term<Whole<1, max_layers>, InShape<&Shape::moe, &MoeShape::every>>("moe_every", TermGroup::model,
                                                                       "of the other layers, every n-th has experts"),
    term<Whole<0, 8>, InShape<&Shape::norms_per_layer>>("norms_per_layer", TermGroup::model,
                                                        "normalisations in a layer (Gemma 2: 4)"),
    term<Word<spec::QkNorm>, InShape<&Shape::qk_norm>>("qk_norm", TermGroup::model,
                                                       "normalisation of queries and keys"),
    term<Switch, InShape<&Shape::parallel_residual>>("parallel_residual", TermGroup::model,
                                                     "attention and MLP side by side (GPT-NeoX, Falcon)"),
    term<Length, InShape<&Shape::window, &WindowPattern::window>>("window", TermGroup::model,
                                                                  "positions a windowed layer sees"),
    term<Whole<0, max_layers>, InShape<&Shape::window, &WindowPattern::full_every>>(
        "full_every", TermGroup::model, "every n-th layer sees everything; 0: all are windowed"),
    term<Whole<0>, InShape<&Shape::latent, &LatentShape::q_rank>>("q_lora_rank", TermGroup::model,
                                                                  "latent attention: query rank; 0: direct"),
    term<Whole<0>, InShape<&Shape::latent, &LatentShape::kv_rank>>("kv_lora_rank", TermGroup::model,
                                                                   "latent attention: key and value rank; 0: none"),
    term<Dimension, InShape<&Shape::latent, &LatentShape::qk_nope_dim>>("qk_nope_head_dim", TermGroup::model,
                                                                        "latent attention: head width without rope"),
    term<Dimension, InShape<&Shape::latent, &LatentShape::qk_rope_dim>>("qk_rope_head_dim", TermGroup::model,
                                                                        "latent attention: head width with rope"),
    term<Dimension, InShape<&Shape::latent, &LatentShape::v_dim>>("v_head_dim", TermGroup::model,
                                                                  "latent attention: width of a value head"),
};

}  // namespace

std::span<const Term> model_terms() { return rows; }
std::span<const Term> structure_terms() { return structure_rows; }

}  // namespace llmcalc::read
