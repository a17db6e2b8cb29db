// fitted_servers FILE...: what `validate` predicts of the rows about servers with other constants. Prints a line "id
// quantity measured dense|mixture room|queue" for each row that is answered (queue: its requests wait for room in the
// cache), and an empty one; then reads lines "NAME NUMBER..." with a row of src/serving/pace.cpp or the "ggml" of an
// entry of presets/generations each, times in seconds, and answers an empty line with the predictions of all rows.
//
// The functions that hand out the constants are defined here, so that the library's own are not linked.
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/rows.hpp"
#include "serving/answer.hpp"
#include "serving/inner/pace.hpp"
#include "serving/speed.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

struct Constants {
  serving::Overheads overheads;
  std::map<std::string, spec::GgmlRates, std::less<>> generations;
  serving::GgmlKernels kernels;
};

/// Numbers that no share divides by zero with, since requests of infinite steps would be simulated for ever.
template <class Row>
Row ones() {
  Row row;
  auto* const first = reinterpret_cast<double*>(&row);
  std::fill(first, first + sizeof(Row) / sizeof(double), 1.0);
  return row;
}

Constants& constants() {
  static Constants all{
      .overheads = ones<serving::Overheads>(), .generations = {}, .kernels = ones<serving::GgmlKernels>()};
  return all;
}

/// The numbers of a row, in the order of its members.
void set(std::istream& line, double* first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) line >> first[i];
}

template <class Row>
void set_row(std::istream& line, Row& row) {
  static_assert(sizeof(Row) % sizeof(double) == 0);
  std::vector<double> values(sizeof(Row) / sizeof(double));
  set(line, values.data(), values.size());
  std::copy(values.begin(), values.end(), reinterpret_cast<double*>(&row));
}

void take(const std::string& text) {
  std::istringstream line(text);
  std::string name;
  line >> name;
  if (name == "common_overheads") {
    set_row(line, constants().overheads);
  } else if (name == "kernels") {
    set_row(line, constants().kernels);
  } else {
    set_row(line, constants().generations[name]);
  }
}

/// A model that is no preset may be known by the id of its checkpoint.
std::vector<read::Given> words_of(const read::MeasuredRun& run) {
  auto words = run.question;
  const std::string id(read::cell(run, "hf_id"));
  for (const auto& word : words) {
    if (word.term == "model") return words;
  }
  if (!id.empty()) words.push_back({"model", id, {read::Source::row, run.place}});
  return words;
}

/// What memory says stays as it is while the constants change.
struct Asked {
  serving::ServingAnswer answer;
  spec::Measure measure;
};

/// Constants that were not found stay 0, which no fit would notice.
void take_rates(spec::Generation& generation) {
  const auto found = constants().generations.find(generation.ggml_of);
  if (found == constants().generations.end()) {
    throw std::invalid_argument("fitted_servers: no numbers for " + std::string(generation.ggml_of));
  }
  generation.ggml = found->second;
}

double predicted(Asked& row) {
  if (!constants().generations.empty()) take_rates(row.answer.deployment.question.gpu->generation);
  row.answer.speed = serving::speed_of(row.answer.deployment);
  return serving::predicted(row.answer, row.measure, serving::Scope::one_card).value_or(0.0);
}

void answer(std::vector<Asked>& rows) {
  for (Asked& row : rows) std::cout << predicted(row) << ' ';
  std::cout << std::endl;
}

std::vector<Asked> read_rows(int count, char** files) {
  const read::Catalogue catalogue;
  std::vector<Asked> rows;
  for (int i = 1; i < count; ++i) {
    std::ifstream file(files[i]);
    read::MeasuredRows measured(std::string(std::istreambuf_iterator<char>(file), {}), files[i]);
    for (auto left = measured.count(); left > 0; --left) {
      const auto run = measured.next();
      if (!spec::is_rate(run.measure) && run.measure != spec::Measure::ttft && run.measure != spec::Measure::tpot)
        continue;
      try {
        Asked row{serving::serve(read::resolve_serving(words_of(run), std::nullopt, catalogue).question), run.measure};
        if (!row.answer.speed) continue;
        const bool mixture = row.answer.deployment.question.model.shape.moe.experts > 0;
        std::cout << run.id << ' ' << spec::name_of(run.measure) << ' ' << run.value << ' '
                  << (mixture ? "mixture" : "dense") << ' ' << (row.answer.speed->queued > 0 ? "queue" : "room")
                  << '\n';
        rows.push_back(std::move(row));
      } catch (const quantity::BadInput&) {
        continue;  // A row that validate leaves out as well.
      }
    }
  }
  return rows;
}

}  // namespace

namespace llmcalc::serving {

const Overheads& overheads() { return constants().overheads; }

const GgmlKernels& ggml_kernels() { return constants().kernels; }

}  // namespace llmcalc::serving

int main(int count, char** arguments) {
  std::ios::sync_with_stdio(false);
  std::vector<Asked> rows = read_rows(count, arguments);
  std::cout << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) {
      answer(rows);
    } else {
      take(line);
    }
  }
}
