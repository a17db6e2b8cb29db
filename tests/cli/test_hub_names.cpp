// Names and addresses of the Hub in every form in which people paste them, and redirects of every kind: the same model
// is asked for at the same place, and the token goes nowhere else.
#include "catch.hpp"
#include "cli/hub_server.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <string>
#include <utility>
#include <vector>

namespace llmcalc::test::hub {

using Catch::Matchers::Contains;

TEST_CASE("a name of the Hub has its parts whatever stands in front of it") {
  for (const std::string prefix : {"", "hf:", "hf.co/", "huggingface.co/", "https://huggingface.co/"}) {
    for (const std::string id : {"org/name", "a/b", "O-r.g/Na_me-1.5B", "Qwen/Qwen3-Next-80B-A3B-Instruct"}) {
      for (const std::string quant : {"", "Q4_K_M", "q8_0", "IQ2_XS", "UD-Q4_K_XL"}) {
        for (const std::string revision :
             {"", "main", "v1.0", "refs/pr/1", "0123456789abcdef0123456789abcdef01234567"}) {
          const auto text = prefix + id + (quant.empty() ? "" : ":" + quant) + (revision.empty() ? "" : "@" + revision);
          CAPTURE(text);
          const auto name = cli::hub_name(text);
          REQUIRE(name.has_value());
          CHECK(name->id == id);
          CHECK(name->quant == quantity::to_lower(quant));
          CHECK(name->revision == (revision.empty() ? "main" : revision));
        }
      }
    }
  }
}

TEST_CASE("a letter that no name has makes it none, wherever it stands") {
  const std::string id = "org/name";
  for (const char letter : std::string(" \t\n\r;$`'\"\\?#%&=*|<>(){}[]!,+~^\x7F")) {
    for (std::size_t at = 0; at <= id.size(); ++at) {
      std::string text = id;
      text.insert(at, 1, letter);
      CAPTURE(text);
      CHECK_FALSE(cli::hub_name(text).has_value());
      CHECK_FALSE(cli::hub_name(text + "@main").has_value());
      CHECK_FALSE(cli::hub_name("org/name@" + std::string(1, letter) + "main").has_value());
    }
  }
  for (const auto* text : {"/name", "org/", "/", "", ".org/name", "org/.name", "-org/name", "org/-name", "org/na..me",
                           "org//name", "org/name:", "org/name:a/b", "org/name@a/", "org/name@/a", "org/name@a//b"}) {
    CAPTURE(text);
    CHECK_FALSE(cli::hub_name(text).has_value());
  }
}

TEST_CASE("each revision is asked for as one step of a path, whatever its slashes") {
  const HttpServer server([](const std::string&) { return response("200 OK", std::string(config)); });
  for (const auto& [revision, step] : {std::pair("main", "main"), {"v1.0", "v1.0"}, {"refs/pr/1", "refs%2Fpr%2F1"}}) {
    const auto before = server.requests().size();
    try {
      cli::fetch({"org/name", revision, {}}, hub_at(server));
    } catch (const quantity::BadInput&) {  // every file is the configuration there
    }
    REQUIRE(server.requests().size() > before);
    CHECK(asks(server.requests()[before], "/org/name/resolve/" + std::string(step) + "/config.json"));
  }
}

// RFC 9110, 15.4: all of them send a GET on; a place that answers with none of them is the answer.
TEST_CASE("every kind of redirect is followed to every kind of place, and the token only on the Hub's own host") {
  const HttpServer files([](const std::string&) { return response("200 OK", std::string(config)); });
  const std::string elsewhere = files.url() + "/deep/er/blob?x=1&y=a/b";
  int hops = 0;
  for (const std::string status :
       {"301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"}) {
    // Each place with the path that it stands for beside /org/name/resolve/main/config.json (RFC 3986, 5.2).
    const std::vector<std::pair<std::string, std::string>> places{{elsewhere, {}},
                                                                  {elsewhere.substr(elsewhere.find("//")), {}},
                                                                  {"/blob?x=1", "/blob?x=1"},
                                                                  {"../../blob?x=1", "/org/name/blob?x=1"},
                                                                  {"?x=1", "/org/name/resolve/main/config.json?x=1"},
                                                                  {"blob?x=1", "/org/name/resolve/main/blob?x=1"}};
    for (const auto& place : places) {
      const auto& location = place.first;
      const auto& path = place.second;
      CAPTURE(status, location);
      const HttpServer server([&](const std::string& request) {
        if (!path.empty() && asks(request, path)) return response("200 OK", std::string(config));
        if (request.find("/config.json ") == request.npos) return missing();
        return response(status, "", "Location: " + location + "\r\n");
      });
      const auto before = files.requests().size();
      CHECK(cli::fetch(some_model, hub_at(server)).config.has_value());
      for (const auto& request : server.requests()) CHECK_THAT(request, Contains("Authorization: Bearer hf_secret"));
      for (auto i = before; i < files.requests().size(); ++i) {
        CHECK_THAT(files.requests()[i], !Contains("hf_secret"));
        CHECK(asks(files.requests()[i], "/deep/er/blob?x=1&y=a/b"));
        ++hops;
      }
    }
  }
  CHECK(hops == 10);
}

TEST_CASE("an address of the Hub is its model, or the file that a page of it shows, whatever ends it") {
  const HttpServer server([](const std::string&) { return response("200 OK", "model_name_or_path: org/other\n"); });
  const auto hub = hub_at(server);
  for (const std::string id : {"org/name", "O-r.g/Na_me-1.5B"}) {
    for (const std::string end : {"", "/", "//"}) {
      const auto reading = cli::read_address(server.url() + "/" + id + end, hub);
      CHECK(read::find_word(reading.words, "model")->text == id);
    }
    CHECK(server.requests().empty());
  }
  for (const std::string file : {"train.yaml", "deep/er/train.yaml?download=true"}) {
    const auto before = server.requests().size();
    const auto reading = cli::read_address(server.url() + "/org/name/blob/main/" + file, hub);
    CHECK(read::find_word(reading.words, "model")->text == "org/other");
    CHECK(asks(server.requests()[before], "/org/name/resolve/main/" + file));
  }
  for (const auto* none : {"https://a b", "ftp://host/x", "file:///etc/passwd", "host/x", "https//x", "http:x"}) {
    CAPTURE(none);
    CHECK_FALSE(cli::is_address(none));
  }
}

}  // namespace llmcalc::test::hub
