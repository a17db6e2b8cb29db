// Launch files and models at an address of the web (things.hpp).
#include "api/surroundings.hpp"
#include "cli/http.hpp"
#include "cli/hub.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

constexpr std::string_view github = "https://github.com/";
constexpr std::string_view shown = "/blob/";

/// Where the text of a file is that a page of GitHub or of the Hub shows.
std::string address_of_text(std::string address, const HubEnvironment& hub) {
  const auto at = address.find(shown);
  if (at == address.npos) return address;
  if (address.starts_with(hub.endpoint + "/")) return address.replace(at, shown.size(), "/resolve/");
  if (!address.starts_with(github)) return address;
  address.replace(at, shown.size(), "/");
  return address.replace(0, github.size(), "https://raw.githubusercontent.com/");
}

bool is_repository(std::string_view address) {
  const bool is_page = address.starts_with(github) && address.find(shown) == address.npos;
  return is_page || address.starts_with("git@") || address.ends_with(".git");
}

/// The model of a page of the Hub, "org/name".
std::optional<HubName> model_of_page(std::string_view address, const HubEnvironment& hub) {
  auto name = quantity::without_start(address, hub.endpoint + "/");
  if (name.size() == address.size()) return std::nullopt;
  while (name.ends_with('/')) name.remove_suffix(1);
  return std::ranges::count(name, '/') == 1 ? hub_name(name) : std::nullopt;
}

dialects::Reading file_at(const std::string& address, const HubEnvironment& hub) {
  constexpr std::uint64_t largest = 1U << 20U;
  constexpr long redirects = 300;
  if (hub.offline) throw BadInput(address, "is not asked for: the network is switched off");
  const auto response = http_get(address_of_text(address, hub), hub, {.most = largest});
  if (response.status >= redirects) {
    throw BadInput(address, "cannot be read: the server answers " + std::to_string(response.status));
  }
  const std::string path = address.substr(0, address.find_first_of("?#"));
  return dialects::read_launch_file(response.body, path.substr(path.rfind('/') + 1),
                                    [](const std::string&) { return std::optional<dialects::NamedFile>(); });
}

}  // namespace

bool is_address(std::string_view thing) {
  const bool is_web = thing.starts_with("https://") || thing.starts_with("http://") || thing.starts_with("git@");
  return is_web && thing.find_first_of(" \n") == thing.npos;
}

dialects::Reading read_address(const std::string& address, const HubEnvironment& hub) {
  if (is_repository(address)) {
    throw BadInput(address, "is a repository and no file",
                   std::string(github) + "OWNER/NAME/blob/main/FILE names one of its files");
  }
  const auto model = model_of_page(address, hub);
  if (!model) return file_at(address, hub);
  dialects::Reading reading;
  reading.kind = api::hub_kind;
  reading.place = address;
  reading.words.push_back({"model", model->id, {read::Source::file, address}});
  return reading;
}

}  // namespace llmcalc::cli
