// GET over HTTP, by libcurl where the program was built with it.
#pragma once

#include "cli/hub.hpp"

#include <cstdint>
#include <string>

namespace llmcalc::cli {

struct HttpRequest {
  std::uint64_t most = 0;  ///< bytes of the body; more end the transfer, or are an error where no range was asked for
  bool range = false;      ///< asks for the first `most` bytes only
};

struct HttpResponse {
  long status = 0;
  std::string body;
  std::uint64_t size = 0;  ///< of the whole file, where a range says it
  std::string error_code;  ///< the Hub's own, X-Error-Code
  std::string next;        ///< of a list in pages, where the next one is (RFC 8288)
};

/// The token goes to the endpoint's host alone: redirects are followed without it.
/// \throws quantity::BadInput when nothing answers, in time and in bounds
HttpResponse http_get(const std::string& url, const HubEnvironment& hub, const HttpRequest& request);

}  // namespace llmcalc::cli
