// A build without libcurl: the cache and files answer, the network does not.
#include "cli/hub.hpp"
#include "llmcalc/quantity/error.hpp"

namespace llmcalc::cli {

HttpResponse http_get(const std::string& url, const HubEnvironment&, const HttpRequest&) {
  throw quantity::BadInput(url, "cannot be asked: this program was built without libcurl",
                           "huggingface-cli download fills the cache, which is read");
}

}  // namespace llmcalc::cli
