#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/hub.hpp"
#include "cli/variables.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using test::Variables;

TEST_CASE("The variables of huggingface_hub mean what they mean there") {
  const test::Folder home;
  const std::string expected = home.path() + "/some/hub";
  const auto hub_with = [](std::vector<std::pair<std::string, std::string>> values) {
    const Variables variables(std::move(values));
    return cli::read_hub_environment(false);
  };
  CHECK(hub_with({{"HF_HOME", home.path() + "/some"}}).cache == expected);
  CHECK(hub_with({{"XDG_CACHE_HOME", home.path()}}).cache == home.path() + "/huggingface/hub");
  CHECK(hub_with({{"HOME", home.path()}}).cache == home.path() + "/.cache/huggingface/hub");
  CHECK(hub_with({{"HF_HUB_CACHE", "/c"}, {"HUGGINGFACE_HUB_CACHE", "/d"}, {"HF_HOME", "/e"}}).cache == "/c");
  CHECK(hub_with({{"HUGGINGFACE_HUB_CACHE", "/d"}, {"HF_HOME", "/e"}}).cache == "/d");
  CHECK(hub_with({{"HF_HUB_CACHE", "~/hub"}, {"HOME", "/h"}}).cache == "/h/hub");
  CHECK(hub_with({{"HF_HUB_CACHE", "/d/$WHO/${WHAT}/$NONE"}, {"WHO", "me"}, {"WHAT", "x"}}).cache == "/d/me/x/$NONE");
  CHECK(hub_with({{"HF_ENDPOINT", "https://mirror.example//"}}).endpoint == "https://mirror.example");
  CHECK(hub_with({{"HF_HUB_ETAG_TIMEOUT", "3"}}).timeout == 3);
  CHECK(hub_with({{"HF_HUB_ETAG_TIMEOUT", "3"}, {"HF_HUB_DOWNLOAD_TIMEOUT", "7"}}).timeout == 7);
  CHECK(cli::read_hub_environment(true).offline);
  for (const auto* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    for (const auto* yes : {"1", "ON", "Yes", "true"}) CHECK(hub_with({{name, yes}}).offline);
    for (const auto* no : {"0", "off", ""}) CHECK_FALSE(hub_with({{name, no}}).offline);
  }
}

TEST_CASE("The token is the variable's, or else that of a file") {
  const test::Folder home;
  home.write("token", "hf_file\n");
  const auto token_with = [&](std::vector<std::pair<std::string, std::string>> values) {
    values.emplace_back("HF_HOME", home.path());
    const Variables variables(std::move(values));
    return cli::read_hub_environment(false).token;
  };
  CHECK(token_with({}) == "hf_file");
  CHECK(token_with({{"HF_TOKEN", " hf_a\n"}, {"HUGGING_FACE_HUB_TOKEN", "hf_b"}}) == "hf_a");
  CHECK(token_with({{"HUGGING_FACE_HUB_TOKEN", "hf_b"}}) == "hf_b");
  CHECK(token_with({{"HF_TOKEN_PATH", home.write("other", "hf_other")}}) == "hf_other");
  CHECK(token_with({{"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}, {"HF_TOKEN", "hf_a"}}).empty());
  CHECK(token_with({{"HF_TOKEN", "two\r\nlines"}}).empty());
}
