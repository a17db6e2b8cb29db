// How the tensors of a checkpoint rest where its own files say it tensor by tensor or module by module.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "spec/roles.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace llmcalc::spec {

/// Matrices that the name of a module stands for.
struct NamedModules {
  RoleSet roles;                                     ///< none of what stands beside the layers, or is not known
  std::optional<bool> expert = std::nullopt;         ///< routed experts' alone, or all but theirs
  std::optional<std::int64_t> layer = std::nullopt;  ///< of that layer alone
  bool whole_mlp = false;
  bool beside_mlp = false;  ///< in a layer, in none of its parts
};

/// Every matrix of every layer.
NamedModules all_of_layers();

/// Names are "model.layers.3.self_attn*", "*.mlp.shared_expert.*", "re:.*lm_head$" (compressed_tensors utils/match.py).
NamedModules modules_named(std::string_view pattern);

/// A checkpoint that is at hand, or whose publisher's settings are known: it may rest in other types than its word of
/// --quant stands for.
class FileTensors {
 public:
  enum class Part {
    whole,
    other  ///< more or less than the matrix, which counts where the file does not have it as such
  };
  /// \param layer  0 of what is beside the layers
  void add(Use use, Part part, bool expert, std::int64_t layer, double elements, double bytes);
  void add(const FileTensors& shard);
  /// Bytes of that layer's matrix or the first behind it; nothing where there is none.
  std::optional<double> bytes_each(Use use, bool expert, std::int64_t layer) const;

  void say(const NamedModules& modules, formats::Quant scheme);
  /// The scheme of a matrix: what was said last, and of its layer before what was said of all.
  std::optional<formats::Quant> said(Role role, bool expert, std::int64_t layer) const;
  bool says() const { return !said_.empty(); }

  formats::Quant quant = formats::Quant::bf16;  ///< of the file; in another type it would have other tensors

 private:
  struct Held {
    double elements = 0;
    double bytes = 0;
  };
  std::map<std::tuple<Use, Part, bool, std::int64_t>, Held> held_;
  std::map<std::pair<bool, std::int64_t>, std::array<std::optional<formats::Quant>, role_count>> said_;
};

}  // namespace llmcalc::spec
