// What is alive at the peak, a line for each thing that a person can name, with where its size comes from.
#pragma once

#include "answer/inner/parts.hpp"
#include "llmcalc/spec/question.hpp"

#include <string>
#include <utility>
#include <vector>

namespace llmcalc::answer {

class Ledger {
 public:
  Ledger(const spec::Question& question, const Walks& walks) : question_(question), walks_(walks) {}

  std::vector<LedgerLine> lines(const MemoryAnswer& memory);

 private:
  void states(const memory::Moment& alive);
  void weights(const memory::Moment& alive);
  void update(const memory::Moment& alive);
  void companions(const memory::Moment& alive);
  void step(const memory::Moment& alive);
  void checkpoint(const memory::Moment& alive);
  void scratch(const memory::Moment& alive);
  void textbook(const MemoryAnswer& memory);
  void runtime(const MemoryAnswer& memory);
  LedgerLine allocator_line(quantity::Bytes slack, const MemoryAnswer& memory) const;
  LedgerLine communicator_line(quantity::Bytes buffers) const;
  LedgerLine engine_line(quantity::Bytes engine) const;
  LedgerLine context_line(quantity::Bytes context) const;
  LedgerLine calibration_line(quantity::Bytes predicted, const MemoryAnswer& memory) const;
  std::string what_engine_holds(quantity::Bytes engine) const;
  quantity::Bytes needed_without_bias(const MemoryAnswer& memory) const;
  void add(LedgerLine line) {
    if (quantity::in_bytes(line.size) != 0) lines_.push_back(std::move(line));
  }

  const spec::Question& question_;
  const Walks& walks_;
  std::vector<LedgerLine> lines_;
};

/// "1,048,576 B".
std::string exact_bytes(quantity::Bytes size);

/// "8,030,261,248 x 2 B" where the product is whole, "2,270,756,864 on this rank x 2 B" of a share of elements of
/// `width` bytes, else the bytes alone.
std::string per_parameter(quantity::Bytes size, std::int64_t parameters, std::int64_t width = 0);

}  // namespace llmcalc::answer
