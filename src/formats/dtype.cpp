#include "llmcalc/formats/dtype.hpp"

#include "llmcalc/formats/ggml_type.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <cstddef>
#include <iterator>

namespace llmcalc::formats {
namespace {

/// \param key  the member of a row that names its enumerator
template <class Table, class Row, class Enum>
constexpr bool in_enumeration_order(const Table& table, Enum Row::*key) {
  for (std::size_t i = 0; i < std::size(table); ++i) {
    if (table[i].*key != static_cast<Enum>(i)) return false;
  }
  return true;
}

// In the order of the enumeration, so that facts() is an index.
constexpr GgmlFacts types[] = {
#include "formats/ggml.inc"
};
static_assert(in_enumeration_order(types, &GgmlFacts::type));

constexpr QuantFacts quants[] = {
#include "formats/quants.inc"
};
static_assert(in_enumeration_order(quants, &QuantFacts::quant));

std::int64_t scale_bytes(const QuantFacts& f, std::int64_t rows, std::int64_t columns, std::int64_t group) {
  if (f.channel_scale) return 4 * columns;
  if (f.tile > 0) {
    return 4 * quantity::checked_multiply(quantity::ceil_divide(rows, f.tile), quantity::ceil_divide(columns, f.tile));
  }
  if (group == 0) return 0;
  return quantity::ceil_divide(quantity::product(quantity::ceil_divide(rows, group), columns, f.group_bits), 8);
}

constexpr DtypeFacts dtypes[] = {
#include "formats/dtypes.inc"
};
static_assert(in_enumeration_order(dtypes, &DtypeFacts::dtype));

/// ceil(count x bits / 8) without a product that overflows where the result does not.
std::int64_t packed_bytes(std::int64_t count, std::int64_t bits) {
  const std::int64_t in_whole_octets = quantity::checked_multiply(count / 8, bits);
  return quantity::checked_add(in_whole_octets, quantity::ceil_divide(count % 8 * bits, 8));
}

std::int64_t scale_bytes(const BlockScale& scale, std::int64_t elements) {
  if (scale.block == 0) return 0;
  const std::int64_t scales = quantity::ceil_divide(elements, scale.block);
  std::int64_t total = quantity::checked_multiply(scales, scale.scale_bytes);
  total = quantity::checked_add(total, packed_bytes(scales, scale.zero_bits));
  if (scale.nested_block > 0) {
    const std::int64_t nested = quantity::ceil_divide(scales, scale.nested_block);
    total = quantity::checked_add(total, quantity::checked_multiply(nested, scale.nested_bytes));
  }
  return quantity::checked_add(total, elements > 0 ? scale.tensor_bytes : 0);
}

}  // namespace

const GgmlFacts& facts(GgmlType type) { return types[static_cast<std::size_t>(type)]; }

std::span<const GgmlFacts> all_ggml_types() { return types; }

bool packs_rows(GgmlType type, std::int64_t columns) { return columns % facts(type).block == 0; }

quantity::Bytes storage_bytes(GgmlType type, std::int64_t elements) {
  const GgmlFacts& f = facts(type);
  return quantity::bytes(quantity::checked_multiply(elements / f.block, f.bytes));
}

const QuantFacts& facts(Quant quant) { return quants[static_cast<std::size_t>(quant)]; }

Quant of_experts(Quant quant) { return facts(quant).of_experts.value_or(quant); }

std::span<const QuantFacts> all_quants() { return quants; }

bool is_file_type(Quant quant) { return facts(quant).covers == Coverage::file; }

quantity::Bytes storage_bytes(const QuantFacts& f, std::int64_t rows, std::int64_t columns, std::int64_t group) {
  const std::int64_t codes = quantity::ceil_divide(quantity::product(rows, columns, f.bits), 8);
  return quantity::bytes(quantity::checked_add(codes, scale_bytes(f, rows, columns, group > 0 ? group : f.group)));
}

std::span<const DtypeFacts> all_dtypes() { return dtypes; }

const DtypeFacts& facts(Dtype dtype) { return dtypes[static_cast<std::size_t>(dtype)]; }

bool is_quantized(Dtype dtype) { return facts(dtype).bits <= 8 && !is_narrow_float(dtype); }

quantity::Bytes storage_bytes(Dtype dtype, std::int64_t elements) {
  const auto& f = facts(dtype);
  return quantity::bytes(packed_bytes(elements, f.bits)) + quantity::bytes(scale_bytes(f.scale, elements));
}

quantity::BitsPerElement average_bits(Dtype dtype) {
  const auto& f = facts(dtype);
  double bits_per_scale = 8.0 * static_cast<double>(f.scale.scale_bytes) + static_cast<double>(f.scale.zero_bits);
  if (f.scale.nested_block > 0) {
    bits_per_scale += 8.0 * static_cast<double>(f.scale.nested_bytes) / static_cast<double>(f.scale.nested_block);
  }
  const double share = f.scale.block > 0 ? bits_per_scale / static_cast<double>(f.scale.block) : 0.0;
  return quantity::bits_per_element(f.bits + share);
}

}  // namespace llmcalc::formats
