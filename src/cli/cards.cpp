#include "cli/files.hpp"
#include "cli/machine.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;
using read::Given;

constexpr std::string_view local = "local";

/// Those that CUDA shows to a program, where that is said by number.
std::vector<Card> visible(std::vector<Card> cards, const char* said) {
  if (said == nullptr) return cards;
  std::vector<Card> shown;
  for (const auto piece : quantity::pieces_of(said, ",")) {
    std::string_view text = quantity::trim(piece);
    const auto at = quantity::take_number<std::size_t>(text);
    if (!at || !text.empty()) return cards;  // by UUID
    if (*at < cards.size()) shown.push_back(cards[*at]);
  }
  return shown;
}

/// How many of them a word asks for: "local" all, "local:2" two.
std::size_t asked_of(std::string_view word, std::size_t all) {
  if (word == local) return all;
  std::string_view text = word.substr(local.size() + 1);
  const auto count = quantity::take_number<std::size_t>(text);
  if (!count || !text.empty() || *count == 0)
    throw BadInput("--gpu", "expected local or local:2, found '" + std::string(word) + "'");
  if (*count > all) throw BadInput("--gpu", fmt::format("{}: this machine has {}", word, all));
  return *count;
}

}  // namespace

std::vector<Card> local_cards(const std::filesystem::path& root) {
  auto cards = visible(nvidia_cards(), std::getenv("CUDA_VISIBLE_DEVICES"));
  if (cards.empty()) cards = kernel_cards(root);
  if (const auto graphics = processor_graphics(); cards.empty() && graphics) {
    cards.push_back({.name = graphics->name, .arch = {}, .total = graphics->memory, .is_shared = true});
  }
  if (!cards.empty()) return cards;
  throw BadInput("--gpu", "local: no driver of NVIDIA, AMD or Intel tells of a card here",
                 "name the accelerator, as --gpu rtx-4090");
}

void take_local_cards(dialects::Reading& reading, std::vector<Given>& words, const read::Catalogue& catalogue,
                      std::vector<Card> cards) {
  auto* gpu = quantity::find_or_null(words, "gpu", &Given::term);
  dialects::sort_by_free(cards);
  cards.resize(asked_of(gpu->text, cards.size()));
  if (const auto names = dialects::mixed_names(cards); !names.empty()) {
    throw BadInput("--gpu", "local: the cards here are not alike: " + names,
                   "--gpu local:1 takes the freest, CUDA_VISIBLE_DEVICES says which");
  }
  const Card& fullest = cards.back();
  const auto match = dialects::preset_of(fullest, catalogue);
  if (match.id.empty()) {
    std::string hint = "name the one that it is most like, as --gpu rx-7900-xtx";
    if (fullest.total) {
      hint += ", --memory " + quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(*fullest.total)));
    }
    throw BadInput("--gpu", "local: " + match.unlike, std::move(hint));
  }
  const bool counted = read::has_word(words, "gpus");
  gpu->text = counted ? match.id : fmt::format("{}:{}", match.id, cards.size());
  gpu->origin.where = "--gpu local: " + fullest.name;
  if (!match.unlike.empty()) reading.assumptions.push_back({match.unlike});
  const auto room = dialects::room_on(cards, catalogue.accelerator(match.id, "--gpu"), "now");
  if (!room || read::has_word(words, "memory")) return;
  const auto origin = gpu->origin;
  words.push_back({"memory", fmt::format("{}MiB", room->bytes >> 20U), {origin.source, "--gpu local: " + room->state}});
  reading.assumptions.push_back({room->told});
}

// NVML's functions and structures as NVIDIA's nvidia-ml-py 13 declares them (pynvml.py): only what is needed of them.

namespace {

using Device = void*;
constexpr int success = 0;
constexpr int too_small = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr std::uint64_t not_said = std::numeric_limits<std::uint64_t>::max();

/// nvmlMemory_v2_t: `used` is without what the driver reserves.
struct Memory {
  std::uint32_t version = 0x02000028;
  std::uint64_t total = 0, reserved = 0, free = 0, used = 0;
};

/// nvmlProcessInfo_v2_t, which nvmlDeviceGetComputeRunningProcesses_v3 fills.
struct Process {
  std::uint32_t process = 0;
  std::uint64_t bytes = 0;
  std::uint32_t instance = 0, compute_instance = 0;
};

/// First of the architectures of NVIDIA by compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
struct Capability {
  int major, minor;
  std::string_view arch;
};
constexpr Capability capabilities[] = {{12, 1, "Blackwell GB10"}, {12, 0, "Blackwell GB20"}, {10, 3, "Blackwell Ultra"},
                                       {10, 0, "Blackwell"},      {9, 0, "Hopper"},          {8, 9, "Ada"},
                                       {8, 7, "Ampere"},          {8, 6, "Ampere GA10"},     {8, 0, "Ampere GA100"},
                                       {7, 5, "Turing"},          {7, 0, "Volta"},           {6, 0, "Pascal"}};

std::string arch_of(int major, int minor) {
  for (const auto& each : capabilities) {
    if (each.major == major && each.minor <= minor) return std::string(each.arch);
  }
  return {};
}

constexpr const char* nvml_names[] = {"libnvidia-ml.so.1", "nvml.dll"};

class Nvml {
 public:
  bool is_here() const { return library_.is_here(); }

  /// Calls a function of the library; not 0 where it fails or an old library lacks it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    constexpr int no_function = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
    const auto function = library_.function<int(Arguments...)>(name);
    return function == nullptr ? no_function : function(arguments...);
  }

  std::string error(int code) const {
    const auto describe = library_.function<const char*(int)>("nvmlErrorString");
    return describe == nullptr ? "error " + std::to_string(code) : describe(code);
  }

 private:
  SharedLibrary library_ = SharedLibrary(nvml_names);
};

std::vector<Holder> holders_of(const Nvml& nvml, Device device) {
  std::uint32_t count = 0;
  constexpr const char* ask = "nvmlDeviceGetComputeRunningProcesses_v3";
  if (nvml.call(ask, device, &count, static_cast<Process*>(nullptr)) != too_small) return {};
  constexpr std::uint32_t room_for_new = 8;
  count += room_for_new;
  std::vector<Process> found(count);
  if (nvml.call(ask, device, &count, found.data()) != success) return {};
  std::vector<Holder> holders;
  for (std::uint32_t at = 0; at < count; ++at) {
    holders.push_back({found[at].process, found[at].bytes == not_said ? 0 : found[at].bytes});
  }
  return holders;
}

Card card_of(const Nvml& nvml, Device device, const std::string& arch) {
  Card card{.name = {}, .arch = arch};
  std::array<char, 96> name{};
  nvml.call("nvmlDeviceGetName", device, name.data(), static_cast<std::uint32_t>(name.size() - 1));
  card.name = name.data();
  Memory memory;
  if (nvml.call("nvmlDeviceGetMemoryInfo_v2", device, &memory) == success) {
    card.total = memory.total;
    card.free = memory.free;
  }
  card.holders = holders_of(nvml, device);
  return card;
}

/// Its slices where it is cut up, else the card.
void add_cards(const Nvml& nvml, Device device, std::vector<Card>& cards) {
  int major = 0;
  int minor = 0;
  nvml.call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor);
  const auto arch = arch_of(major, minor);
  std::uint32_t slices = 0;
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  const bool is_cut = nvml.call("nvmlDeviceGetMigMode", device, &current, &pending) == success && current == 1;
  if (is_cut) nvml.call("nvmlDeviceGetMaxMigDeviceCount", device, &slices);
  for (std::uint32_t at = 0; at < slices; ++at) {
    Device slice = nullptr;
    if (nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", device, at, &slice) != success) continue;
    cards.push_back(card_of(nvml, slice, arch));
  }
  if (!is_cut) cards.push_back(card_of(nvml, device, arch));
}

}  // namespace

std::vector<Card> nvidia_cards() {
  const Nvml nvml;
  if (!nvml.is_here()) return {};
  std::uint32_t count = 0;
  int result = nvml.call("nvmlInit_v2");
  if (result == success) result = nvml.call("nvmlDeviceGetCount_v2", &count);
  if (result != success) {
    throw BadInput("--gpu", "local: NVIDIA's driver does not answer: " + nvml.error(result),
                   "nvidia-smi says the same; name the accelerator, as --gpu rtx-4090");
  }
  std::vector<Card> cards;
  for (std::uint32_t at = 0; at < count; ++at) {
    Device device = nullptr;
    if (nvml.call("nvmlDeviceGetHandleByIndex_v2", at, &device) == success) add_cards(nvml, device, cards);
  }
  nvml.call("nvmlShutdown");
  return cards;
}

// The kernel's own figures: amdgpu writes those of its memory into sysfs (Documentation/gpu/amdgpu/driver-misc.rst), of
// xe the PCI region of its memory says the size (Documentation/ABI/testing/sysfs-bus-pci, `resource`).

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  return is_file(file) ? std::string(quantity::trim(read_file(file, "--gpu"))) : std::string();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

/// "73BF,\tC1,\tAMD Radeon RX 6900 XT" of libdrm's table, by device and revision.
std::string amd_name(const fs::path& root, const fs::path& device) {
  if (auto name = text_of(device / "product_name"); !name.empty()) return name;
  const auto id = quantity::to_lower(text_of(device / "device"));
  const auto revision = quantity::to_lower(text_of(device / "revision"));
  std::istringstream table(text_of(root / "usr/share/libdrm/amdgpu.ids"));
  for (std::string line; std::getline(table, line);) {
    const auto cells = quantity::pieces_of(line, ",");
    if (cells.size() < 3 || line.starts_with('#')) continue;
    const auto hex = [&](std::size_t at) { return "0x" + quantity::to_lower(std::string(quantity::trim(cells[at]))); };
    if (hex(0) == id && hex(1) == revision) return std::string(quantity::trim(cells[2]));
  }
  return {};
}

/// "\te20b  Battlemage G21 [Arc B580]" below the line of the vendor in the table of pciutils.
std::string intel_name(const fs::path& root, const fs::path& device) {
  const auto id = quantity::to_lower(text_of(device / "device"));
  std::istringstream table(text_of(root / "usr/share/misc/pci.ids"));
  bool is_intel = false;
  for (std::string line; std::getline(table, line);) {
    if (!line.empty() && line[0] != '\t' && line[0] != '#') is_intel = line.starts_with("8086");
    const auto open = line.find('[');
    if (!is_intel || id.size() < 3 || !line.starts_with("\t" + id.substr(2) + " ") || open == std::string::npos)
      continue;
    return line.substr(open + 1, line.find(']') - open - 1);
  }
  return {};
}

Card amd_card(const fs::path& root, const fs::path& device) {
  Card card{.name = amd_name(root, device), .arch = {}};
  card.total = number_in(text_of(device / "mem_info_vram_total"));
  const auto used = number_in(text_of(device / "mem_info_vram_used"));
  if (card.total && used) card.free = *card.total - std::min(*card.total, *used);
  return card;
}

/// The largest region is the memory's where the machine can map all of it; a window of 256 MiB says nothing.
Card intel_card(const fs::path& root, const fs::path& device) {
  constexpr std::uint64_t window = std::uint64_t{256} << 20U;
  Card card{.name = intel_name(root, device), .arch = {}};
  std::istringstream regions(text_of(device / "resource"));
  for (std::string from, to, flags; regions >> from >> to >> flags;) {
    const auto first = number_in(from).value_or(0);
    const auto size = number_in(to).value_or(0) - first + 1;
    if (first != 0 && size > window && size > card.total.value_or(0)) card.total = size;
  }
  return card;
}

struct Driver {
  std::string_view vendor;  ///< of PCI
  Card (*card)(const fs::path& root, const fs::path& device);
};
constexpr Driver drivers[] = {{"0x1002", amd_card}, {"0x8086", intel_card}};

}  // namespace

std::vector<Card> kernel_cards(const fs::path& root) {
  std::error_code error;
  std::set<fs::path> devices;  // by name: card0, card1
  for (const auto& entry : fs::directory_iterator(root / "sys/class/drm", error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("card") && name.find('-') == std::string::npos) devices.insert(entry.path() / "device");
  }
  std::vector<Card> cards;
  for (const auto& device : devices) {
    const auto vendor = text_of(device / "vendor");
    for (const auto& driver : drivers) {
      if (driver.vendor != vendor) continue;
      Card card = driver.card(root, device);
      if (card.name.empty()) card.name = "PCI device " + text_of(device / "device");
      if (card.total) cards.push_back(std::move(card));  // graphics within a processor have no memory of their own
    }
  }
  return cards;
}

}  // namespace llmcalc::cli
