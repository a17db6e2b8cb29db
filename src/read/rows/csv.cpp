#include "read/csv.hpp"

#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace llmcalc::read {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view place) : text_(text), place_(place) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> all;
    while (!at_end()) {
      if (!take_line_end()) all.push_back(next_row());
    }
    return all;
  }

 private:
  CsvRow next_row() {
    CsvRow row{line_, {}};
    do {
      row.cells.push_back(next_is('"') ? quoted_cell() : plain_cell());
    } while (take(','));
    if (!at_end() && !take_line_end()) fail(line_, at_, "text follows a closing quote");
    return row;
  }

  std::string plain_cell() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted_cell() {
    const std::int64_t line = line_;
    const std::size_t opened = at_ - line_begin_;
    std::string cell;
    ++at_;
    while (!at_end()) {
      const std::size_t begin = at_;
      if (take_line_end()) {
        cell += text_.substr(begin, at_ - begin);
      } else if (!take('"')) {
        cell += text_[at_++];
      } else if (take('"')) {
        cell += '"';
      } else {
        return cell;
      }
    }
    fail(line, line_begin_ + opened, "a quote is never closed");
  }

  bool at_end() const { return at_ == text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }

  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }

  bool take_line_end() {
    const bool carriage_return = take('\r');
    if (!take('\n') && !carriage_return) return false;
    ++line_;
    line_begin_ = at_;
    return true;
  }

  /// \param at  a byte of the text, after the beginning of the line that is being read
  [[noreturn]] void fail(std::int64_t line, std::size_t at, const char* problem) const {
    const auto byte = std::to_string(at - line_begin_ + 1);
    throw quantity::BadInput(std::string(place_) + ":" + std::to_string(line) + ":" + byte, problem);
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, std::string_view place) { return CsvReader(text, place).rows(); }

}  // namespace llmcalc::read
