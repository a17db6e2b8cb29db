#include "serving/inner/gguf_rule.hpp"

namespace llmcalc::serving {

namespace {

using formats::GgmlType;
using formats::Quant;

/// A file type's base types and its rules are keyed by ranges of these names.
template <class... Quants>
constexpr bool is(Quant quant, Quants... among) {
  return ((quant == among) || ...);
}

constexpr bool is_iq1(Quant q) { return is(q, Quant::iq1_s, Quant::iq1_m); }
constexpr bool is_iq2(Quant q) { return is(q, Quant::iq2_xxs, Quant::iq2_xs, Quant::iq2_s, Quant::iq2_m); }
constexpr bool is_larger_iq2(Quant q) { return is(q, Quant::iq2_s, Quant::iq2_m); }
constexpr bool is_iq4(Quant q) { return is(q, Quant::iq4_nl, Quant::iq4_xs); }

/// The first and the last eighth of the layers, and every third of those between.
bool takes_more_bits(std::int64_t i, std::int64_t n) { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

GgmlType base(const GgufModel& model) { return *formats::facts(model.quant).base; }

GgmlType head_type(const GgufModel& model) {
  const Quant q = model.quant;
  if (is_iq1(q) || is_iq2(q) || q == Quant::iq3_xxs) return GgmlType::q5_k;
  if (q == Quant::mxfp4_moe || q == Quant::q8_0) return GgmlType::q8_0;
  return GgmlType::q6_k;
}

GgmlType table_type(const GgufModel& model) {
  const Quant q = model.quant;
  if (model.tied) return head_type(model);
  if (is_iq1(q) || is(q, Quant::iq2_xxs, Quant::iq2_xs)) return GgmlType::q2_k;
  if (is_larger_iq2(q) || q == Quant::iq3_xxs) return GgmlType::iq3_s;
  if (is(q, Quant::tq1_0, Quant::tq2_0)) return GgmlType::q4_k;
  return base(model);
}

/// Values of files of one and two bits.
GgmlType small_value_type(const GgufModel& model) {
  if (model.group_query >= 4 || model.experts >= 4) return GgmlType::q4_k;
  return is_larger_iq2(model.quant) ? GgmlType::iq3_s : GgmlType::q2_k;
}

GgmlType usual_value_type(const GgufModel& model, std::int64_t i) {
  const Quant q = model.quant;
  const bool shared = model.group_query >= 4;
  if (q == Quant::q2_k) return shared ? GgmlType::q4_k : GgmlType::q3_k;
  if (is(q, Quant::q2_k_s, Quant::iq3_xs, Quant::iq3_s) && shared) return GgmlType::q4_k;
  if (q == Quant::iq3_xxs && shared) return GgmlType::q4_k;
  if (q == Quant::iq3_xxs && !model.imatrix) return GgmlType::iq3_s;
  if (q == Quant::iq3_m) return GgmlType::q4_k;
  if (q == Quant::q3_k_m) return i < 2 ? GgmlType::q5_k : GgmlType::q4_k;
  if (q == Quant::q3_k_l) return GgmlType::q5_k;
  if (is_iq4(q) && shared) return GgmlType::q5_k;
  if (is(q, Quant::q4_k_m, Quant::q5_k_m) && takes_more_bits(i, model.attention_layers)) return GgmlType::q6_k;
  if (q == Quant::q4_k_s && i < 4) return GgmlType::q5_k;
  return base(model);
}

GgmlType value_type(const GgufModel& model, std::int64_t i) {
  if (is_iq1(model.quant) || is_iq2(model.quant)) return small_value_type(model);
  const GgmlType type = usual_value_type(model, i);
  if (model.experts == 8) return GgmlType::q8_0;
  const bool raised = type == GgmlType::q3_k || type == GgmlType::q4_k;
  return model.is_70b() && raised ? GgmlType::q5_k : type;
}

GgmlType key_type(const GgufModel& model, bool is_key) {
  const Quant q = model.quant;
  if (is_iq1(q) || is_iq2(q)) return is_key && model.experts == 8 ? GgmlType::q4_k : base(model);
  if (is_key && model.experts == 8) return GgmlType::q8_0;
  if (q == Quant::iq3_xs) return GgmlType::iq3_xxs;
  return q == Quant::iq3_xxs ? GgmlType::iq2_s : base(model);
}

GgmlType down_type(const GgufModel& model, std::int64_t i) {
  const Quant q = model.quant;
  const std::int64_t n = model.layers;
  const bool early = i < n / 8;
  if (is_iq1(q) || is_iq2(q)) {
    if (!early) return base(model);
    return is_larger_iq2(q) ? GgmlType::iq3_s : GgmlType::q2_k;
  }
  if (q == Quant::q2_k) return GgmlType::q3_k;
  if (q == Quant::iq3_xxs && !model.imatrix) return early ? GgmlType::q4_k : GgmlType::q3_k;
  if (q == Quant::q3_k_m) return i < n / 16 ? GgmlType::q5_k : GgmlType::q4_k;
  if (is(q, Quant::q2_k_s, Quant::iq3_m) && early) return GgmlType::q4_k;
  if (q == Quant::q3_k_l) return GgmlType::q5_k;
  if (is(q, Quant::q4_k_m, Quant::q5_k_m) && takes_more_bits(i, n)) return GgmlType::q6_k;
  if (is_iq4(q) && early && !model.imatrix) return GgmlType::q5_k;
  if (q == Quant::q4_k_s && early) return GgmlType::q5_k;
  if (q == Quant::q4_0 && early && model.imatrix) return GgmlType::q4_1;
  if (q == Quant::q5_0 && early && model.imatrix) return GgmlType::q5_1;
  return base(model);
}

/// Type of Mixtral's output projections, in files of two to four bits.
bool raises_output_of_eight(Quant q) {
  return is(q, Quant::q2_k, Quant::iq3_xs, Quant::iq3_xxs, Quant::iq3_s, Quant::iq3_m, Quant::q3_k_s, Quant::q3_k_m) ||
         is(q, Quant::iq4_nl, Quant::iq4_xs, Quant::q4_k_s, Quant::q4_k_m);
}

GgmlType output_type(const GgufModel& model) {
  const Quant q = model.quant;
  if (is_iq1(q) || is_iq2(q)) {
    if (model.experts == 8) return GgmlType::q5_k;
    if (is_iq1(q)) return GgmlType::iq2_xxs;
    return is_larger_iq2(q) ? GgmlType::iq3_s : base(model);
  }
  if (model.experts == 8) return raises_output_of_eight(q) ? GgmlType::q5_k : base(model);
  if (q == Quant::q2_k) return GgmlType::q3_k;
  if (q == Quant::iq3_xxs) return GgmlType::iq3_s;
  if (is(q, Quant::q3_k_m, Quant::iq3_m)) return GgmlType::q4_k;
  return q == Quant::q3_k_l ? GgmlType::q5_k : base(model);
}

GgmlType fused_type(const GgufModel& model) {
  if (is(model.quant, Quant::q3_k_m, Quant::q3_k_l, Quant::iq3_m)) return GgmlType::q4_k;
  if (model.quant == Quant::q4_k_m) return GgmlType::q5_k;
  return model.quant == Quant::q5_k_m ? GgmlType::q6_k : base(model);
}

/// The middle three quarters of the layers of one file type.
GgmlType gate_type(const GgufModel& model, std::int64_t i) {
  const bool middle = i >= model.layers / 8 && i < 7 * model.layers / 8;
  return model.quant == Quant::iq3_xs && middle ? GgmlType::iq3_xxs : base(model);
}

/// Files of a checkpoint in MXFP4 all keep the experts as they are (bartowski/openai_gpt-oss-20b-GGUF,
/// README.md: "All quants keep the feed forward networks at mxfp4").
GgmlType wanted(const GgufModel& model, const GgufTensor& tensor) {
  if (model.from_mxfp4 && tensor.expert) return GgmlType::mxfp4;
  if (tensor.role == Use::head) return head_type(model);
  if (tensor.role == Use::table || tensor.role == Use::lookups) return table_type(model);
  if (model.quant == Quant::mxfp4_moe) return tensor.expert ? GgmlType::mxfp4 : GgmlType::q8_0;
  if (model.quant == Quant::q8_0) return GgmlType::q8_0;
  switch (tensor.role) {
    case Use::value:
    case Use::latent_up: return value_type(model, tensor.place.attention);
    case Use::key:
    case Use::query: return key_type(model, tensor.role == Use::key);
    case Use::attention_in: return fused_type(model);
    case Use::attention_out: return output_type(model);
    case Use::down: return down_type(model, tensor.place.layer);
    case Use::gate:
    case Use::up:
    case Use::gate_up: return gate_type(model, tensor.place.layer);
    default: return base(model);
  }
}

/// Type of rows that do not come out in whole blocks of 256.
GgmlType narrower_block(GgmlType type) {
  switch (type) {
    case GgmlType::q4_k: return GgmlType::q5_0;
    case GgmlType::q5_k: return GgmlType::q5_1;
    case GgmlType::q6_k: return GgmlType::q8_0;
    default: return GgmlType::iq4_nl;
  }
}

}  // namespace

GgmlType gguf_type(const GgufModel& model, const GgufTensor& tensor) {
  if (tensor.role == Use::router || tensor.role == Use::vector) return GgmlType::f32;
  if (tensor.role == Use::whole) return GgmlType::f16;
  GgmlType type = wanted(model, tensor);
  if (!formats::packs_rows(type, tensor.width)) type = narrower_block(type);
  return formats::packs_rows(type, tensor.width) ? type : GgmlType::f16;
}

}  // namespace llmcalc::serving
