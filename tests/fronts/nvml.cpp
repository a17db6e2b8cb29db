// Stands in for libnvidia-ml.so.1: the cards that LLMCALC_CARDS lists, "name|capability|total MiB|free
// MiB|process|slices" with ';' between them. No total: the driver does not say; "broken": it does not answer.
// Structures as in nvidia-ml-py's pynvml.py.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Fake {
  std::vector<std::string> cells;
  std::vector<Fake> slices;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> pieces;
  std::istringstream in(text);
  for (std::string piece; std::getline(in, piece, at);) pieces.push_back(piece);
  return pieces;
}

std::string cards() {
  const char* said = std::getenv("LLMCALC_CARDS");
  return said == nullptr ? "" : said;
}

std::vector<Fake>& fakes() {
  static std::vector<Fake> all = [] {
    std::vector<Fake> made;
    for (const auto& text : split(cards(), ';')) {
      Fake fake{split(text, '|'), {}};
      fake.cells.resize(6);
      const int slices = std::atoi(fake.cells[5].c_str());
      for (int n = 0; n < slices; ++n) fake.slices.push_back({fake.cells, {}});
      made.push_back(fake);
    }
    return made;
  }();
  return all;
}

const std::string& cell(void* device, std::size_t at) { return static_cast<Fake*>(device)->cells[at]; }
constexpr int not_supported = 3;
constexpr int not_found = 6;

}  // namespace

extern "C" {

struct Memory {
  std::uint32_t version;
  std::uint64_t total, reserved, free, used;
};
struct Process {
  std::uint32_t process;
  std::uint64_t bytes;
  std::uint32_t instance, compute_instance;
};

int nvmlInit_v2() { return cards() == "broken" ? 9 : 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "Driver Not Loaded"; }

int nvmlDeviceGetCount_v2(std::uint32_t* count) {
  *count = static_cast<std::uint32_t>(fakes().size());
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(std::uint32_t at, void** device) {
  *device = &fakes()[at];
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, std::uint32_t room) {
  std::strncpy(name, cell(device, 0).c_str(), room);
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  *major = std::atoi(cell(device, 1).c_str());
  *minor = std::atoi(cell(device, 1).substr(cell(device, 1).find('.') + 1).c_str());
  return 0;
}

int nvmlDeviceGetMemoryInfo_v2(void* device, Memory* memory) {
  if (cell(device, 2).empty()) return not_supported;
  if (memory->version != (sizeof(Memory) | 2U << 24U)) return 25;  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  memory->total = std::stoull(cell(device, 2)) << 20U;
  memory->free = std::stoull(cell(device, 3)) << 20U;
  memory->reserved = 300U << 20U;
  memory->used = memory->total - memory->free - memory->reserved;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, std::uint32_t* count, Process* processes) {
  const bool any = !cell(device, 4).empty();
  if (processes == nullptr && any) return 7;
  if (any && *count < 1) return 7;
  *count = any ? 1 : 0;
  if (any) processes[0] = {static_cast<std::uint32_t>(std::stoul(cell(device, 4))), 2048ULL << 20U, 0, 0};
  return 0;
}

int nvmlDeviceGetMigMode(void* device, std::uint32_t* current, std::uint32_t* pending) {
  *current = *pending = cell(device, 5).empty() ? 0 : 1;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void*, std::uint32_t* count) {
  *count = 7;
  return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, std::uint32_t at, void** slice) {
  auto& slices = static_cast<Fake*>(device)->slices;
  if (at >= slices.size()) return not_found;
  *slice = &slices[at];
  return 0;
}
}
