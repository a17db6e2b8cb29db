#include "../read/gguf_writer.hpp"
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/http_server.hpp"
#include "cli/hub.hpp"
#include "cli/hub_server.hpp"
#include "cli/run.hpp"
#include "cli/variables.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

using namespace llmcalc;
using Catch::Matchers::Contains;
using namespace test::hub;
using test::HttpServer;
using test::Variables;

namespace {

using Words = std::vector<std::string>;

std::string problem_of(const HttpServer& server) {
  try {
    cli::fetch(some_model, hub_at(server));
  } catch (const quantity::BadInput& error) {
    CHECK_THAT(error.what(), !Contains("hf_secret"));
    return error.problem();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("A model of the Hub is its configuration and the headers of its weights") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (asks(request, "/org/name/resolve/main/model.safetensors")) {
      const auto file = safetensors();
      return response(
          "206 Partial Content", file,
          "Content-Range: bytes 0-" + std::to_string(file.size() - 1) + "/" + std::to_string(file.size()) + "\r\n");
    }
    return missing();
  });
  const auto reading = cli::fetch(some_model, hub_at(server));
  REQUIRE(reading.config.has_value());
  CHECK(reading.config->path == "org/name/config.json");
  REQUIRE(reading.weights.has_value());
  CHECK(reading.weights->parameters == 4);
  CHECK_THAT(server.requests().back(), Contains("Range: bytes=0-99999"));
  CHECK_THAT(server.requests().front(), Contains("Authorization: Bearer hf_secret"));
}

TEST_CASE("A server that ignores ranges is read no further than was asked") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (asks(request, "/org/name/resolve/main/model.safetensors")) return response("200 OK", safetensors());
    return missing();
  });
  CHECK(cli::fetch(some_model, hub_at(server)).weights->parameters == 4);
}

TEST_CASE("The index says the size of all weights without a request a shard") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (asks(request, "/org/name/resolve/main/model.safetensors.index.json")) {
      return response("200 OK", R"({"metadata":{"total_size":1234},"weight_map":{"a":"m-1.safetensors"}})");
    }
    return missing();
  });
  const auto reading = cli::fetch(some_model, hub_at(server));
  CHECK(reading.weights->bytes == 1234);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("The token goes to the endpoint and not where it redirects to") {
  const HttpServer files([](const std::string&) { return response("200 OK", std::string(config)); });
  const HttpServer server([&](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) {
      return response("302 Found", "", "Location: " + files.url() + "/blob?x=1\r\n");
    }
    return missing();
  });
  CHECK(cli::fetch(some_model, hub_at(server)).config.has_value());
  CHECK_THAT(server.requests().front(), Contains("Authorization"));
  CHECK_THAT(files.requests().front(), !Contains("Authorization"));
}

// RFC 9110, 10.2.2: a place is a reference that is resolved against the one that was asked (RFC 3986, 4.2).
TEST_CASE("A redirect is a whole address, one without its scheme, a path of the host or one beside what was asked") {
  const HttpServer files([](const std::string&) { return response("200 OK", std::string(config)); });
  const std::string hosted = files.url() + "/blob";
  for (const std::string& location :
       {hosted, hosted.substr(hosted.find("//")), std::string("/blob"), std::string("blob")}) {
    CAPTURE(location);
    const HttpServer server([&](const std::string& request) {
      if (asks(request, "/blob") || asks(request, "/org/name/resolve/main/blob")) {
        return response("200 OK", std::string(config));
      }
      if (!asks(request, "/org/name/resolve/main/config.json")) return missing();
      return response("302 Found", "", "Location: " + location + "\r\n");
    });
    CHECK(cli::fetch(some_model, hub_at(server)).config.has_value());
  }
}

TEST_CASE("Redirects that go in a circle end") {
  const HttpServer server([](const std::string&) { return response("302 Found", "", "Location: /again\r\n"); });
  CHECK_THAT(problem_of(server), Contains("circle"));
}

TEST_CASE("Gated, missing and broken models each have their error") {
  const auto answered = [](const std::string& status) {
    const HttpServer server([&](const std::string&) { return response(status, "no"); });
    return problem_of(server);
  };
  CHECK_THAT(answered("401 Unauthorized"), Contains("gated"));
  CHECK_THAT(answered("403 Forbidden"), Contains("gated"));
  CHECK_THAT(answered("404 Not Found"), Contains("no model of that name"));
  CHECK_THAT(answered("500 Internal Server Error"), Contains("status 500"));
}

TEST_CASE("A limit of the rate is waited for once") {
  const HttpServer server(
      [](const std::string&) { return response("429 Too Many Requests", "", "Retry-After: 0\r\n"); });
  CHECK_THAT(problem_of(server), Contains("429"));
  CHECK(server.requests().size() == 2);
}

TEST_CASE("Bodies that are cut short, lie about their length or never end are refused") {
  const HttpServer cut(
      [](const std::string&) { return std::string("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"); });
  CHECK_THAT(problem_of(cut), Contains("cannot be read"));
  const HttpServer silent([](const std::string&) { return std::string(); });
  CHECK_THAT(problem_of(silent), Contains("cannot be read"));
  const HttpServer large([](const std::string&) { return response("200 OK", std::string(6U << 20U, ' ')); });
  CHECK_THAT(problem_of(large), Contains("more than"));
  const HttpServer lying([](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (request.find("safetensors ") != std::string::npos) {
      return response("206 Partial Content", safetensors(), "Content-Range: bytes 0-9/20\r\n");
    }
    return missing();
  });
  const auto reading = cli::fetch(some_model, hub_at(lying));
  CHECK_FALSE(reading.weights.has_value());
  REQUIRE(reading.assumptions.size() == 1);
  CHECK_THAT(reading.assumptions[0].words, Contains("org/name/model.safetensors is longer than the server says"));
}

TEST_CASE("A network that fails behind the configuration is an error all the same") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (request.find("index.json ") != std::string::npos) return missing();
    return response("503 Service Unavailable", "");
  });
  CHECK_THAT(problem_of(server), Contains("status 503"));
}

TEST_CASE("A body that trickles is given up") {
  const HttpServer server([](const std::string&) { return response("200 OK", std::string(config)); },
                          std::chrono::milliseconds(2000));
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(problem_of(server), Contains("cannot be read"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("A header that is longer than the first range is asked for once more") {
  const std::string padding(150'000, ' ');
  const std::string header = R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})" + padding;
  std::string file;
  for (unsigned i = 0; i < 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
  file += header + std::string(8, '\0');
  const HttpServer server([&](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (!asks(request, "/org/name/resolve/main/model.safetensors")) return missing();
    const auto at = request.find("bytes=0-") + 8;
    const auto last = std::min<std::size_t>(std::stoul(request.substr(at)), file.size() - 1);
    return response("206 Partial Content", file.substr(0, last + 1),
                    "Content-Range: bytes 0-" + std::to_string(last) + "/" + std::to_string(file.size()) + "\r\n");
  });
  CHECK(cli::fetch(some_model, hub_at(server)).weights->parameters == 4);
  CHECK(server.requests().size() == 4);  // config, index, and the header twice
}

TEST_CASE("A model that NVIDIA quantized says so beside its configuration") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/name-FP4/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (asks(request, "/org/name-FP4/resolve/main/hf_quant_config.json")) {
      return response("200 OK", R"({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})");
    }
    return missing();
  });
  const auto reading = cli::fetch({"org/name-FP4", "main", {}}, hub_at(server));
  REQUIRE(reading.words.size() == 2);
  CHECK(reading.words[0].term == "quant");
  CHECK(reading.words[0].text == "nvfp4");
  CHECK(reading.words[1].term == "kv_dtype");
  CHECK(reading.words[1].text == "fp8");
}

TEST_CASE("A server that does not answer in time is given up") {
  const HttpServer server([](const std::string&) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return std::string();
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(problem_of(server), Contains("cannot be read"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("A repository of GGUF files is asked for one of them") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/api/models/org/name/tree/main?recursive=1")) {
      return response("200 OK", R"([{"path":"m-Q4_K_M.gguf"},{"path":"m-Q8_0.gguf"},{"path":7}])");
    }
    return missing();
  });
  CHECK_THAT(problem_of(server), Contains("2 GGUF files"));
}

TEST_CASE("A file is a model's GGUF by its quantization, the first of a split and no projector") {
  CHECK(cli::is_gguf_of("Model-Q4_K_M.GGUF", "q4_k_m"));
  CHECK(cli::is_gguf_of("UD/m-Q8_0-00001-of-00002.gguf", ""));
  CHECK_FALSE(cli::is_gguf_of("UD/m-Q8_0-00002-of-00002.gguf", ""));
  CHECK_FALSE(cli::is_gguf_of("m-Q8_0.gguf", "q4_k_m"));
  CHECK_FALSE(cli::is_gguf_of("mmproj-F16.gguf", "f16"));
  CHECK_FALSE(cli::is_gguf_of("m-Q4_K_M.safetensors", "q4_k_m"));
}

TEST_CASE("A list of files in pages is read to its end") {
  const std::string list = "/api/models/org/name/tree/main?recursive=1";
  const HttpServer server([&](const std::string& request) {
    const std::string more = "Link: <" + list + "&cursor=a>; rel=\"first\", <" + list + "&cursor=b>; rel=\"next\"\r\n";
    if (asks(request, list)) return response("200 OK", R"([{"path":"m-Q4_K_M.gguf"}])", more);
    if (asks(request, list + "&cursor=b")) return response("200 OK", R"([{"path":"m-Q8_0.gguf"}])");
    return missing();
  });
  CHECK_THAT(problem_of(server), Contains("2 GGUF files"));
  const HttpServer circle([&](const std::string& request) {
    if (!asks(request, list)) return missing();
    return response("200 OK", "[]", "Link: <" + list + ">; rel=\"next\"\r\n");
  });
  CHECK_THAT(problem_of(circle), Contains("does not end"));
}

TEST_CASE("Of a split GGUF all files are asked for their headers") {
  const auto first = test::small_llama().count("split.count", 2);
  const auto second = test::GgufWriter().count("split.count", 2).tensor("blk.9.x", {32}, 0, 128);
  const auto part = [](const test::GgufWriter& file) {
    const auto size = std::to_string(file.size());
    return response("206 Partial Content", file.header(), "Content-Range: bytes 0-99/" + size + "\r\n");
  };
  const HttpServer server([&](const std::string& request) {
    if (asks(request, "/api/models/org/name/tree/main?recursive=1")) {
      return response("200 OK", R"([{"path":"Q/m-Q4_K_M-00001-of-00002.gguf"},{"path":"Q/m-Q4_K_M-00002-of-00002.gguf"},
                                    {"path":"m-Q8_0.gguf"},{"path":"mmproj-m-Q4_K_M.gguf"}])");
    }
    if (asks(request, "/org/name/resolve/main/Q/m-Q4_K_M-00001-of-00002.gguf")) return part(first);
    if (asks(request, "/org/name/resolve/main/Q/m-Q4_K_M-00002-of-00002.gguf")) return part(second);
    return missing();
  });
  const auto reading = cli::fetch({"org/name", "main", "q4_k_m"}, hub_at(server));
  REQUIRE(reading.weights.has_value());
  CHECK(reading.weights->parameters == test::small_llama_parameters + 32);
  CHECK(reading.weights->shards == 2);
  const auto quant = std::ranges::find(reading.words, "quant", &read::Given::term);
  REQUIRE(quant != reading.words.end());
  CHECK(quant->text == "f16");  // as its header says, whatever its name
}

TEST_CASE("A pipeline of diffusers is refused by name") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/api/models/org/name/tree/main?recursive=1")) {
      return response("200 OK", R"([{"path":"model_index.json"},{"path":"unet/config.json"}])");
    }
    return missing();
  });
  CHECK_THAT(problem_of(server), Contains("diffusion pipeline"));
}

TEST_CASE("An adapter is its method and the model that it names") {
  const HttpServer server([](const std::string& request) {
    if (asks(request, "/org/adapter/resolve/main/adapter_config.json")) {
      return response("200 OK", R"({"peft_type": "LORA", "r": 8, "base_model_name_or_path": "org/base",
                                    "target_modules": ["q_proj", "v_proj"]})");
    }
    if (asks(request, "/org/base/resolve/main/config.json")) return response("200 OK", std::string(config));
    return missing();
  });
  const test::Folder home;
  const Variables variables({{"HF_ENDPOINT", server.url()}, {"HF_HOME", home.path()}});
  const auto answer = cli::run(Words{"from", "org/adapter"}, cli::Environment{}).answer;
  CHECK_THAT(answer, Contains("--method lora --lora-rank 8 --lora-targets q,v"));
  const auto fit = cli::run(Words{"fit", "org/adapter", "--gpu", "h100", "--format", "json"}, cli::Environment{});
  CHECK_THAT(fit.answer, Contains("org/base/config.json"));
}

TEST_CASE("The cache is read by reference and by commit, and not beyond it") {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / ("llmcalc-hub-" + std::to_string(getpid()));
  const std::string commit(40, 'a');
  const auto repository = root / "models--org--name";
  fs::create_directories(repository / "refs");
  fs::create_directories(repository / "snapshots" / commit);
  fs::create_directories(repository / "blobs");
  std::ofstream(repository / "refs" / "main") << commit << "\n";
  std::ofstream(repository / "blobs" / "b1") << config;
  fs::create_symlink("../../blobs/b1", repository / "snapshots" / commit / "config.json");
  cli::HubEnvironment hub;
  hub.cache = root;
  hub.offline = true;
  CHECK(cli::read_hub(some_model, hub).config->path == "org/name/config.json");
  CHECK(cli::read_cached({"org/name", commit, {}}, hub).has_value());
  CHECK_FALSE(cli::read_cached({"org/name", "other", {}}, hub).has_value());
  CHECK_THROWS_AS(cli::read_hub({"org/other", "main", {}}, hub), quantity::BadInput);
  const auto absent = repository / ".no_exist" / commit;
  fs::create_directories(absent);
  std::ofstream(absent / "adapter_config.json");
  CHECK(cli::is_known_absent(some_model, "adapter_config.json", hub));
  CHECK_FALSE(cli::is_known_absent(some_model, "config.json", hub));
  std::ofstream(absent / "model.safetensors.index.json");
  fs::remove(repository / "snapshots" / commit / "config.json");
  std::ofstream(repository / "snapshots" / commit / "tokenizer.json") << "{}";
  CHECK_FALSE(cli::read_cached(some_model, hub).has_value());  // which holds some files and no model
  const HttpServer server([](const std::string& request) {
    return asks(request, "/org/name/resolve/main/config.json") ? response("200 OK", std::string(config)) : missing();
  });
  auto online = hub_at(server);
  online.cache = root;
  CHECK(cli::read_hub(some_model, online).config.has_value());
  CHECK(server.requests().size() == 2);  // the configuration and the single file, not the index that is known absent
  fs::remove_all(root);
}

TEST_CASE("Names of the Hub") {
  CHECK(cli::hub_name("org/name")->id == "org/name");
  CHECK(cli::hub_name("org/name@refs/pr/1")->revision == "refs/pr/1");
  CHECK(cli::hub_name("hf:org/name:Q4_K_M")->quant == "q4_k_m");
  CHECK(cli::hub_name("https://huggingface.co/org/name")->id == "org/name");
  for (const auto* text : {"launch/run.sh", "name", "../name", "org/../x", "org/name/more", "org/na me", "/abs/path",
                           "org/name@", "org/name@../x"}) {
    CAPTURE(text);
    CHECK_FALSE(cli::hub_name(text).has_value());
  }
}
