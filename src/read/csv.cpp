#include "llmcalc/read/csv.hpp"

#include "llmcalc/quantity/error.hpp"

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
    while (at_ < text_.size()) {
      CsvRow row = next_row();
      const bool is_empty = row.cells.size() == 1 && row.cells.front().empty();
      if (!is_empty) all.push_back(std::move(row));
    }
    return all;
  }

 private:
  CsvRow next_row() {
    CsvRow row{line_, {}};
    do {
      row.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_cell() : plain_cell());
    } while (take(','));
    take('\r');
    if (at_ < text_.size() && !take('\n')) fail(line_, "text follows a closing quote");
    ++line_;
    return row;
  }

  std::string plain_cell() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted_cell() {
    const std::int64_t opened = line_;
    std::string cell;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        cell += c;
      } else if (take('"')) {
        cell += '"';
      } else {
        return cell;
      }
    }
    fail(opened, "a quote is never closed");
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(std::int64_t line, const char* problem) const {
    throw quantity::BadInput(std::string(place_) + ":" + std::to_string(line), problem);
  }

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, std::string_view place) { return CsvReader(text, place).rows(); }

}  // namespace llmcalc::read
