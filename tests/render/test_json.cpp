#include "catch.hpp"
#include "render/sample_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace llmcalc::render {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const Report& report) { return Json::parse(to_json(report)); }

/// The JSON pointers of all keys of objects; elements of lists are left out.
std::set<std::string> keys_of(const Json& value, const std::string& pointer = {}) {
  std::set<std::string> keys;
  if (!value.is_object()) return keys;
  for (const auto& [key, child] : value.items()) {
    const auto path = pointer + '/' + key;
    keys.insert(path);
    if (path != "/question") keys.merge(keys_of(child, path));
  }
  return keys;
}

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

std::string line_with(const std::string& text, const std::string& part) {
  const auto at = text.find(part);
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("the keys of a fit answer have the order of the manual") {
  CHECK(names_of(parsed(sample_report())) ==
        std::vector<std::string>{"schema_version", "kind",           "tool",      "verdict",       "capacity_bytes",
                                 "needed_bytes",   "headroom_bytes", "error_bar", "broken_limits", "question",
                                 "model",          "memory",         "compute",   "time",          "advice",
                                 "cards",          "trainers",       "room",      "assumptions",   "warnings",
                                 "notes"});
}

TEST_CASE("a fit answer as a whole") {
  auto report = empty_report();
  report.version = "1.2.3";
  report.question = {{"params", "1e9", {spec::Source::flag, "--params"}}};
  CHECK(to_json(report) == R"({
  "schema_version": 1,
  "kind": "fit",
  "tool": {
    "name": "llmcalc",
    "version": "1.2.3"
  },
  "verdict": "no_accelerator",
  "capacity_bytes": null,
  "needed_bytes": 0,
  "headroom_bytes": null,
  "error_bar": {
    "share": 0.0,
    "share_below": 0.0,
    "source": null,
    "low_bytes": 0,
    "likely_bytes": 0,
    "high_bytes": 0,
    "reserved_share": 0.0,
    "reserved_share_below": 0.0,
    "shown_share": 0.0,
    "shown_share_below": 0.0
  },
  "broken_limits": [],
  "question": {
    "params": {
      "value": "1e9",
      "origin": "flag",
      "where": "--params"
    }
  },
  "model": {
    "parameters_total": 0,
    "parameters_active": 0,
    "parameters_trainable": 0,
    "parameters_embedding": 0
  },
  "memory": {
    "ledger": [],
    "phases": [],
    "peak_phase": "backward",
    "peak_place": null,
    "peak_why": {
      "formula": null,
      "numbers": null,
      "source": null
    },
    "timeline": [],
    "persistent_bytes": 0,
    "peak_allocated_bytes": 0,
    "peak_reserved_bytes": 0,
    "peak_device_bytes": 0,
    "peak_needed_bytes": 0,
    "peak_first_step_bytes": 0,
    "stage": 0,
    "stages": [],
    "host_bytes": 0,
    "host_ledger": [],
    "host_needed_bytes": 0,
    "host_capacity_bytes": null,
    "nvme_bytes": 0,
    "paged_bytes": 0
  },
  "compute": {
    "tokens": 0.0,
    "tokens_source": null,
    "flops": [],
    "pflop_days": 0.0
  },
  "time": {
    "mfu": null,
    "mfu_source": null,
    "peak_flops_per_second": null,
    "step_seconds": null,
    "tokens_per_second_per_gpu": null,
    "step_error_bar": null,
    "step_error_bar_above": null,
    "step_error_bar_source": null,
    "step_parts": [],
    "useful_seconds": null,
    "goodput": {
      "share": null,
      "mtbf_seconds": null,
      "failures": null,
      "checkpoint_bytes": null,
      "checkpoint_seconds": null,
      "checkpoint_interval_seconds": null,
      "restart_seconds": null,
      "formula": null,
      "numbers": null,
      "source": null
    },
    "total_seconds": null,
    "gpu_hours": null,
    "cost_usd": null,
    "price_usd_per_gpu_hour": null,
    "price_source": null,
    "energy": {
      "kilowatt_hours": null,
      "power_watts": null,
      "pue": null,
      "formula": null,
      "numbers": null,
      "source": null
    },
    "carbon": {
      "kilograms_co2e": null,
      "grams_per_kilowatt_hour": null,
      "formula": null,
      "numbers": null,
      "source": null
    }
  },
  "advice": [],
  "cards": [],
  "trainers": [],
  "room": {
    "largest_micro_batch": null,
    "longest_seq": null
  },
  "assumptions": [],
  "warnings": [],
  "notes": []
}
)");
}

TEST_CASE("the shape of the answer is the same whatever was asked") {
  const auto keys = keys_of(parsed(sample_report()));
  CHECK(keys.count("/time/cost_usd") == 1);
  for (const auto& report : {report_that_does_not_fit(), report_without_accelerator(), empty_report()}) {
    CHECK(keys_of(parsed(report)) == keys);
  }
}

TEST_CASE("what does not apply is null") {
  const auto answer = parsed(report_without_accelerator());
  CHECK(answer["verdict"] == "no_accelerator");
  CHECK(answer["capacity_bytes"].is_null());
  CHECK(answer["headroom_bytes"].is_null());
  for (const auto& figure : answer["time"].flatten()) CHECK((figure.is_null() || figure.empty()));
  CHECK(answer["compute"]["tokens"] == 15e12);
}

TEST_CASE("bytes are integers and the ledger sums to what the device needs") {
  const auto answer = parsed(sample_report());
  std::int64_t sum = 0;
  for (const auto& line : answer["memory"]["ledger"]) {
    CHECK(line["bytes"].is_number_integer());
    sum += line["bytes"].get<std::int64_t>();
  }
  CHECK(sum == 55'114'752'000);
  CHECK(answer["memory"]["peak_needed_bytes"] == sum);
  CHECK(answer["needed_bytes"] == sum);
  CHECK(answer["headroom_bytes"] == 84'987'740'160 - sum);
}

TEST_CASE("headroom is negative by what is short") {
  const auto answer = parsed(report_that_does_not_fit());
  CHECK(answer["verdict"] == "does_not_fit");
  CHECK(answer["headroom_bytes"] == 24 * 1'073'741'824LL - 55'114'752'000);
}

TEST_CASE("the text's GiB are the JSON's bytes") {
  const auto answer = parsed(sample_report());
  const auto text = to_text(sample_report(), {.full = true});
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  for (const auto& line : answer["memory"]["ledger"]) {
    const auto shown = line_with(text, line["label"].get<std::string>());
    CHECK(shown.find(fmt::format(" {:.2f} ", line["bytes"].get<double>() / gib)) != std::string::npos);
  }
}

TEST_CASE("every figure carries its formula, numbers and source") {
  const auto answer = parsed(sample_report());
  const auto& weights = answer["memory"]["ledger"][0];
  CHECK(weights["id"] == "weights");
  CHECK(weights["formula"] == "parameters x bytes of bf16");
  CHECK(weights["numbers"] == "8,030,261,248 x 2 B");
  CHECK(weights["source"] == "IEEE 754");
  CHECK(answer["memory"]["ledger"][1]["numbers"].is_null());
  CHECK(answer["compute"]["flops"][0]["source"] == "Kaplan et al. 2020, section 2.1");
}

TEST_CASE("words for programs are identifiers") {
  const auto answer = parsed(sample_report());
  CHECK(answer["memory"]["ledger"][2]["id"] == "optimizer_states");
  CHECK(answer["memory"]["phases"][3]["phase"] == "optimizer_step");
  CHECK(answer["memory"]["ledger"][5]["empirical"] == true);
  CHECK(answer["memory"]["ledger"][0]["empirical"] == false);
}

TEST_CASE("each term of the question is echoed with its origin") {
  const auto question = parsed(sample_report())["question"];
  CHECK(names_of(question) == std::vector<std::string>{"model", "gpu", "gpus"});
  CHECK(question["gpu"] == Json{{"value", "a100-80-sxm"}, {"origin", "flag"}, {"where", "--gpu"}});
  CHECK(question["gpus"]["where"].is_null());
}

TEST_CASE("a price that is not known is null beside a time that is") {
  auto report = sample_report();
  report.estimate.compute.cost.reset();
  const auto time = parsed(report)["time"];
  CHECK(time["cost_usd"].is_null());
  CHECK(time["gpu_hours"] == 816.0);
  CHECK(time["total_seconds"] == 34 * 86400.0);
}

TEST_CASE("a run that never ends has a price an hour and no cost") {
  auto report = sample_report();
  const auto time = [&] { return parsed(report).at("time"); };
  report.estimate.compute.price = quantity::dollars(2.0);
  CHECK(time().at("cost_usd") == 1234.0);
  report.estimate.compute.cost.reset();
  CHECK(time().at("price_usd_per_gpu_hour") == 2.0);
  CHECK(time().at("cost_usd").is_null());
}

TEST_CASE("goodput, energy and carbon stand beside the time they follow from") {
  const auto time = parsed(sample_report())["time"];
  CHECK(time["useful_seconds"] == 33 * 86400.0);
  CHECK(time["goodput"]["share"] == 33.0 / 34.0);
  CHECK(time["goodput"]["checkpoint_bytes"] == 14 * 8'030'261'248);
  CHECK(time["goodput"]["source"] == "Daly 2006");
  CHECK(time["energy"]["kilowatt_hours"] == 497.0);
  CHECK(time["carbon"]["kilograms_co2e"] == 199.0);
}

TEST_CASE("what never ends or never comes is null") {
  auto report = sample_report();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  report.estimate.compute.total = quantity::seconds(infinity);
  report.estimate.compute.gpu_hours = infinity;
  report.estimate.compute.goodput->mtbf = quantity::seconds(infinity);
  const auto time = parsed(report)["time"];
  CHECK(time["total_seconds"].is_null());
  CHECK(time["gpu_hours"].is_null());
  CHECK(time["goodput"]["mtbf_seconds"].is_null());
}

TEST_CASE("extreme bytes stay exact") {
  auto report = sample_report();
  report.estimate.verdict.needed = quantity::bytes(std::numeric_limits<std::int64_t>::max());
  const auto answer = parsed(report);
  CHECK(answer["needed_bytes"] == std::numeric_limits<std::int64_t>::max());
  CHECK(answer["headroom_bytes"] == 84'987'740'160 - std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a figure that is not finite is refused, not turned into null") {
  auto report = sample_report();
  report.estimate.compute.mfu = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(to_json(report), std::domain_error);
  report = sample_report();
  report.estimate.compute.tokens = quantity::tokens(std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(to_json(report), std::domain_error);
}

TEST_CASE("advice, room, timeline and the ends of the error bar are numbers for programs") {
  const auto fits = parsed(sample_report());
  CHECK(fits["room"] == Json{{"largest_micro_batch", 5}, {"longest_seq", 40960}});
  CHECK(fits["error_bar"]["likely_bytes"] == fits["needed_bytes"]);
  CHECK(fits["error_bar"]["high_bytes"] == 59'523'932'160);
  const auto& highest = fits["memory"]["timeline"][4];
  CHECK(highest["phase"] == "backward");
  CHECK(highest["place"] == "head");
  CHECK(highest["allocated_bytes"] == 54'577'881'088);
  CHECK(highest["held_bytes"].dump() == R"({"weights":17179869184,"activations":37398011904})");
  CHECK(highest["seconds"].is_null());
  CHECK(fits["memory"]["timeline"][8]["phase"] == "optimizer_step");
  const auto misses = parsed(report_that_does_not_fit());
  CHECK(misses["room"]["longest_seq"].is_null());
  CHECK(misses["advice"][0] == Json{{"flag", "--recompute full"},
                                    {"change", "layers computed again"},
                                    {"cost", "time: a third more compute"},
                                    {"needed_bytes", 20 * 1'073'741'824LL},
                                    {"verdict", "fits"},
                                    {"speed_ratio", nullptr}});
}

TEST_CASE("any bytes of a person's file name make valid JSON") {
  auto report = sample_report();
  report.question.push_back({"config", "a\xff\"b\n", {spec::Source::config, "a\xff\"b\n"}});
  CHECK(parsed(report)["question"]["config"]["value"] == "a\xEF\xBF\xBD\"b\n");
}

}  // namespace llmcalc::render
