// Models and accelerators by name: the embedded presets and those of the user's directory.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/measured_here.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"
#include "spec/image.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::read {

/// Measurements of runs of one framework.
struct OwnRuns {
  spec::Framework framework = spec::Framework::generic;
  spec::Calibration calibration;
};

/// The runs of a file that `llmcalc validate --calibrate` wrote.
/// \param file  its name, for messages
/// \throws quantity::BadInput with file and JSON pointer when it is no such file
std::vector<OwnRuns> read_calibration(std::string_view text, std::string_view file);

/// The parts of one machine.
struct Instance {
  std::string_view gpu;    ///< a name of its preset
  std::int64_t cards = 1;  ///< as its system counts them
};

/// "p5.48xlarge", "a3-highgpu-8g", "Standard_ND96isr_H100_v5", "v5e-8", whatever their case.
std::optional<Instance> find_instance(std::string_view name);

/// Whether it is a slice of an accelerator as nvidia-smi names one: "1g.10gb".
bool is_slice(std::string_view name);

/// Figures that are published about a model's size, and how far our count agrees with it.
struct PublishedSize {
  std::optional<std::int64_t> exact;    ///< the integer that the computed count must equal
  std::optional<std::int64_t> counted;  ///< where no integer is published: what the shape amounts to
  std::optional<std::int64_t> active;   ///< parameters that one token passes through, where they are fewer
  std::string text;                     ///< the rounded number where no integer is published: "175B"
  std::string active_text;              ///< the active parameters as published: "17B"
  std::string check;                    ///< "exact", "matches rounded 125M", or the known cause of the difference
  std::string source;
  std::vector<std::string> evidence;  ///< files and tables that hold the integer
};

/// Elements that a published checkpoint holds beside the text model.
struct CheckpointSize {
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> vision_and_projector;
  // Of those layers, and of the largest image that the model's processor makes for them.
  std::optional<std::int64_t> vision_width, vision_ffn, vision_pixels, vision_positions, vision_tokens;
  std::optional<std::int64_t> mtp_unique;       ///< multi-token-prediction layers without shared tables
  std::optional<std::int64_t> mtp_with_copies;  ///< the same with their copies of embedding and head
  std::optional<std::int64_t> fp8_scales;
};

/// How the published weights were trained.
struct TrainingRecord {
  std::optional<double> tokens;
  std::string source;
  std::string hardware;
  std::optional<double> gpu_hours;
  std::string gpu_hours_source;
  std::string verification;  ///< whether somebody read the number at its source
};

/// Where the shape comes from.
struct ShapeSources {
  std::vector<std::string> read;         ///< files it was read from
  std::vector<std::string> cited;        ///< files said to hold it
  std::vector<std::string> disagreeing;  ///< values that another file gives
};

/// How published weights are stored.
struct PublishedWeights {
  std::optional<formats::Quant> quant;  ///< where they are not in 16 bits
  std::int64_t group = 0;               ///< inputs that share a scale of those; 0: as usual
};

/// One model of those that share a shape.
struct NamedModel {
  std::string name;
  std::string repository;  ///< of the Hub; where none is known, the name
};

struct ModelPreset {
  std::string id;
  /// Its other names. A repository among them is another model of this shape, and names behind it are that model's.
  std::vector<std::string> aliases;
  std::string hf_id;
  /// Longest contexts of repositories among those, where they are not the shape's own.
  std::vector<std::pair<std::string, std::int64_t>> max_position_of;
  std::string family;
  std::string license;
  spec::Shape shape;
  std::string config;                   ///< its public config.json, where that describes the shape; else empty
  std::vector<spec::ImageRule> images;  ///< of each tower that it describes
  PublishedWeights weights;
  /// Weights of repositories among the aliases, where they are stored otherwise.
  std::vector<std::pair<std::string, PublishedWeights>> quant_of;
  bool embeds = false;  ///< a decoder that is published for what it makes of a text
  PublishedSize published;
  CheckpointSize checkpoint;
  TrainingRecord training;
  ShapeSources sources;
  std::string notes;
  std::string base;  ///< the preset it was derived from, if any
  std::string file;  ///< the preset file that defines it: "presets/models/llama.json" or a user's path

  /// Whether that is one of its names; otherwise it was found by a name that is spelled like one.
  bool is_called(std::string_view name) const;
  /// The model of this shape that `name` spells, if it is one of its names.
  std::optional<NamedModel> spelled(std::string_view name) const;
  /// The model that `name` says, of those that have this shape.
  NamedModel named(std::string_view name) const;
  /// The repository of this shape whose name is a part of `name`, "Qwen/Qwen3-32B" of "Huihui-Qwen3-32B-AWQ": its
  /// weights are packed or tuned otherwise.
  std::string_view repository_within(std::string_view name) const;
  /// Makes it the model that `name` says, which may reach further than the entry's, or have its weights in another
  /// type.
  void be_named(std::string_view name);
};

struct AcceleratorPreset {
  std::vector<std::string> aliases;
  spec::Accelerator accelerator;
  std::string base;  ///< the preset it was derived from, if any
  std::string file;
  std::string rates;        ///< the entry of presets/rates that it names; empty: found by what the entries stand for
  std::string rates_place;  ///< where it does
};

/// An accelerator as far as it is told without parsing its entry.
struct Glimpse {
  std::string_view id;
  std::string_view vendor;
  quantity::Bytes memory;                         ///< that programs have
  bool stacked = false;                           ///< HBM
  bool multiplies_bf16 = false;                   ///< its peak is known
  std::optional<quantity::Money> price_per_hour;  ///< of those that are rented
};

Glimpse glimpse_of(const spec::Accelerator& gpu);

/// Measurements of one accelerator, and for which others that stands: all whose architecture begins so, of those
/// only the ones that meet the other conditions; none where there is no architecture.
struct RatesPreset {
  spec::Rates rates = {};
  std::string arch = {};
  std::string name = {};              ///< with which the part's name begins
  double bf16_over_fp32_below = 0.0;  ///< dense bf16 peak over that of the vector units in fp32; 0: any
  quantity::Bandwidth bandwidth_from = {};
  std::string base = {};
};

/// A preset file of the user, already read: the catalogue itself does no I/O.
struct PresetFile {
  std::string path;
  std::string text;
};

/// Finds presets by id, alias or Hugging Face id, without regard to case, and by other spellings of those that only one
/// preset can mean (presets/README.md). User files add and override.
/// An accelerator comes with the rates that were measured of it or of a relative.
/// Entries are parsed when they are asked for: a look-up costs one small JSON object, not the catalogue.
class Catalogue {
 public:
  Catalogue() = default;
  /// \throws quantity::BadInput with file and JSON pointer when a user file is malformed
  Catalogue(const std::vector<PresetFile>& model_files, const std::vector<PresetFile>& accelerator_files,
            std::vector<PresetFile> family_files = {}, const std::vector<PresetFile>& rates_files = {});

  /// \throws quantity::BadInput at `place` with the nearest names when there is no such preset
  ModelPreset model(std::string_view name, std::string_view place) const;
  std::optional<ModelPreset> find_model(std::string_view name) const;  ///< empty where there is no such preset
  AcceleratorPreset accelerator(std::string_view name, std::string_view place) const;

  /// Those of which some name begins so, as nvidia-smi's table cuts names off: "Tesla V100-SXM2".
  std::vector<AcceleratorPreset> accelerators_beginning(std::string_view name) const;

  /// The measurements of an accelerator that was put together by hand.
  void add_rates(spec::Accelerator& gpu) const;

  std::vector<ModelPreset> models() const;              ///< all, in the order of the files
  std::vector<AcceleratorPreset> accelerators() const;  ///< all, in the order of the files
  /// Those of one make with more memory, the smallest first, and of equal ones those on stacks: none of what ships is
  /// parsed for that.
  std::vector<Glimpse> larger(std::string_view vendor, quantity::Bytes above) const;
  /// A user's descriptions of families, which are parsed when a config.json is read.
  const std::vector<PresetFile>& families() const { return user_families_; }

  /// Estimates of the frameworks of these runs go by them from now on.
  void calibrate(std::vector<OwnRuns> runs);
  const OwnRuns* own_runs(spec::Framework framework) const;  ///< nullptr: none are known

 private:
  AcceleratorPreset rated(AcceleratorPreset preset) const;
  std::vector<AcceleratorPreset> rated(std::vector<AcceleratorPreset> presets) const;

  std::vector<ModelPreset> user_models_;
  std::vector<AcceleratorPreset> user_accelerators_;
  std::vector<PresetFile> user_families_;
  std::vector<RatesPreset> user_rates_;
  std::shared_ptr<const std::vector<OwnRuns>> own_runs_;
};

}  // namespace llmcalc::read
