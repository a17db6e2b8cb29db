// NVML's functions and structures as NVIDIA's nvidia-ml-py 13 declares them (pynvml.py): only what is needed of them.
#include "cli/cards.hpp"
#include "llmcalc/quantity/error.hpp"

#include <array>
#include <dlfcn.h>
#include <limits>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

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

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {}
  bool is_here() const { return library_ != nullptr; }

  /// Calls a function of the library; not 0 where it fails or an old library lacks it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    constexpr int no_function = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function == nullptr ? no_function : function(arguments...);
  }

  std::string error(int code) const {
    const auto describe = reinterpret_cast<const char* (*)(int)>(dlsym(library_, "nvmlErrorString"));
    return describe == nullptr ? "error " + std::to_string(code) : describe(code);
  }

 private:
  void* library_;  // stays loaded: there is one in a program's life
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

}  // namespace llmcalc::cli
