// What a Hub on the loopback answers, and how it is asked.
#pragma once

#include "cli/http_server.hpp"
#include "cli/hub.hpp"

#include <string>
#include <string_view>

namespace llmcalc::test::hub {

inline constexpr std::string_view config =
    R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
        "num_hidden_layers": 2, "vocab_size": 256, "max_position_embeddings": 512})";

inline std::string response(const std::string& status, const std::string& body, const std::string& headers = {}) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
         headers + "\r\n" + body;
}

inline bool asks(const std::string& request, std::string_view path) {
  return request.starts_with("GET " + std::string(path) + " ");
}

inline std::string missing() { return response("404 Not Found", "", "X-Error-Code: EntryNotFound\r\n"); }

inline cli::HubEnvironment hub_at(const HttpServer& server) {
  cli::HubEnvironment hub;
  hub.endpoint = server.url();
  hub.token = "hf_secret";
  hub.timeout = 1;
  return hub;
}

inline const cli::HubName some_model{"org/name", "main", {}};

/// One tensor of four bf16 numbers behind a header.
inline std::string safetensors() {
  const std::string header = R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})";
  std::string file;
  for (unsigned i = 0; i < 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
  return file + header + std::string(8, '\0');
}

}  // namespace llmcalc::test::hub
