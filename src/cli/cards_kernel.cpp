// The kernel's own figures: amdgpu writes those of its memory into sysfs (Documentation/gpu/amdgpu/driver-misc.rst), of
// xe the PCI region of its memory says the size (Documentation/ABI/testing/sysfs-bus-pci, `resource`).
#include "cli/cards.hpp"
#include "cli/files.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace llmcalc::cli {
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
