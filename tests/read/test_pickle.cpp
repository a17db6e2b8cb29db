// Pickles of Python as settings: what transformers wrote, what pickle.dumps gives under each protocol, and what nobody
// wrote.

#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/settings.hpp"
#include "read/settings/archive.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

std::string pickled_file(const std::string& path) {
  std::ifstream file(LLMCALC_TEST_DATA + path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string unpickled(const read::Settings& settings, std::string_view key) {
  const auto* setting = settings.find(key);
  return setting == nullptr ? "not there" : setting->text;
}

std::string refusal_of(std::string_view bytes) {
  try {
    read::flat(read::parse_pickle(bytes, "training_args.bin"));
  } catch (const quantity::BadInput& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// A pickle of protocol 2 that is made of these operations.
std::string of_operations(std::string_view operations) { return "\x80\x02" + std::string(operations) + "."; }

std::string repeated_operations(std::string_view operations, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += operations;
  return all;
}

}  // namespace

/// torch.save(TrainingArguments(...)) of torch 2.15 under both releases, with the arguments that are looked for here:
/// per_device_train_batch_size=4, gradient_accumulation_steps=8, learning_rate=2e-5, num_train_epochs=2.5,
/// gradient_checkpointing, optim adamw_bnb_8bit, bf16, fsdp "full_shard auto_wrap" with version 2.
TEST_CASE("training_args.bin of two releases of transformers holds the arguments that it was made with") {
  for (const std::string release : {"4.57.3", "5.24.0"}) {
    INFO(release);
    const auto bytes = pickled_file("/read/pickles/training_args-" + release + ".bin");
    REQUIRE(read::is_pickled(bytes));
    const auto node = read::parse_pickle(bytes, "training_args.bin");
    CHECK(node.text == "transformers.training_args TrainingArguments");
    const auto settings = read::flat(node);
    CHECK(unpickled(settings, "per_device_train_batch_size") == "4");
    CHECK(unpickled(settings, "gradient_accumulation_steps") == "8");
    CHECK(unpickled(settings, "learning_rate") == "2e-05");
    CHECK(unpickled(settings, "num_train_epochs") == "2.5");
    CHECK(unpickled(settings, "optim") == "adamw_bnb_8bit");
    CHECK(unpickled(settings, "bf16") == "true");
    CHECK(unpickled(settings, "fp16") == "false");
    CHECK(unpickled(settings, "max_steps") == "-1");
    CHECK(unpickled(settings, "fsdp_config.version") == "2");
    CHECK(unpickled(settings, "fsdp_config.transformer_layer_cls_to_wrap") == "LlamaDecoderLayer");
    CHECK(unpickled(settings, "distributed_state.num_processes") == "1");
    CHECK(settings.find("bf16")->where == "training_args.bin:/bf16");
  }
}

namespace {

/// A file of a zip archive (method 0 of APPNOTE 4.4.5: stored as it is), and what may stand beside it in headers and
/// directory (PKWARE APPNOTE 4.3.7, 4.3.12).
struct Archived {
  std::string name;
  std::string bytes;
  std::string local_extra = {};
  std::string extra = {};
  std::string comment = {};
  std::uint64_t method = 0;
};

std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

std::string archive_of(const std::vector<Archived>& files, const std::string& comment) {
  std::string bytes;
  std::string directory;
  for (const Archived& file : files) {
    const std::string facts = little(0, 2) + little(file.method, 2) + little(0, 4) + little(0, 4) +
                              little(file.bytes.size(), 4) + little(file.bytes.size(), 4) + little(file.name.size(), 2);
    directory += "PK\x01\x02" + little(0x0314, 2) + little(10, 2) + facts + little(file.extra.size(), 2) +
                 little(file.comment.size(), 2) + little(0, 8) + little(bytes.size(), 4) + file.name + file.extra +
                 file.comment;
    bytes += "PK\x03\x04" + little(10, 2) + facts + little(file.local_extra.size(), 2) + file.name + file.local_extra +
             file.bytes;
  }
  const std::string counts = little(files.size(), 2) + little(files.size(), 2);
  return bytes + directory + "PK\x05\x06" + little(0, 4) + counts + little(directory.size(), 4) +
         little(bytes.size(), 4) + little(comment.size(), 2) + comment;
}

}  // namespace

TEST_CASE("a file of an archive is found whatever stands beside it and the others") {
  const std::vector<std::string> beside{"", "x", std::string(40, 'e'), std::string(300, '\0')};
  for (const auto& local : beside) {
    for (const auto& extra : beside) {
      for (const auto& comment : beside) {
        CAPTURE(local.size(), extra.size(), comment.size());
        const Archived first{"a/version", "3\n", local, extra, comment};
        const Archived wanted{"a/data.pkl", "the pickle", extra, comment, local};
        const Archived last{"a/data/0", std::string(64, 'w'), comment, local, extra};
        for (const auto& files : {std::vector{first, wanted, last}, {last, first, wanted}, {wanted, last, first}}) {
          CHECK(read::archived(archive_of(files, comment), "data.pkl", "m.bin") == "the pickle");
        }
        CHECK_THROWS_WITH(read::archived(archive_of({first, last}, local), "data.pkl", "m.bin"),
                          Contains("an archive without data.pkl"));
      }
    }
  }
}

TEST_CASE("a file of an archive that is packed by any method is not read as if it were stored") {
  const Archived stored{"a/version", "3\n"};
  for (const std::uint64_t method : {1U, 8U, 9U, 14U, 93U, 256U}) {
    CAPTURE(method);
    Archived packed{"a/data.pkl", "the pickle"};
    packed.method = method;
    CHECK_THROWS_WITH(read::archived(archive_of({stored, packed}, ""), "data.pkl", "m.bin"), Contains("compressed"));
    CHECK(read::archived(archive_of({packed, stored}, ""), "version", "m.bin") == "3\n");
  }
}

/// pickle.dumps of CPython 3.11 of {'per_device_train_batch_size': 4, 'a': [1, 2.5, True, None, 'x'], 'b': (1, 2),
/// 'n': -70000, 'big': 2**40, 'neg': -2**40}.
TEST_CASE("a pickle says the same under every protocol") {
  for (int protocol = 0; protocol <= 5; ++protocol) {
    INFO(protocol);
    const auto bytes = pickled_file("/fuzz/corpus/pickle/protocol-" + std::to_string(protocol));
    CHECK(read::is_pickled(bytes) == (protocol >= 2));
    const auto node = read::parse_pickle(bytes, "p");
    const auto settings = read::flat(node);
    CHECK(unpickled(settings, "per_device_train_batch_size") == "4");
    CHECK(unpickled(settings, "b") == "1,2");
    CHECK(unpickled(settings, "n") == "-70000");
    CHECK(unpickled(settings, "big") == "1099511627776");
    CHECK(unpickled(settings, "neg") == "-1099511627776");
    REQUIRE(node.find("a")->items.size() == 5);
    CHECK(node.find("a")->items[1].text == "2.5");
    CHECK(node.find("a")->items[2].text == "true");
    CHECK(node.find("a")->items[3].kind == read::Node::Kind::nothing);
  }
}

/// os.system('false'), as pickle.dumps writes an object whose __reduce__ says so.
TEST_CASE("a call in a pickle is a name and what it was given, and is not made") {
  const auto node = read::parse_pickle(of_operations("cos\nsystem\nU\x05"
                                                     "false\x85R"),
                                       "p");
  CHECK(node.kind == read::Node::Kind::value);
  CHECK(node.text == "false");
}

TEST_CASE("a pickle that nobody wrote is refused with its file's name and a reason") {
  CHECK_THAT(refusal_of(of_operations("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a")),
             Contains("training_args.bin: nests deeper than 64 levels"));
  CHECK_THAT(refusal_of(of_operations(repeated_operations("]", 100'000))), Contains("holds more than 10000 values"));
  CHECK_THAT(refusal_of(of_operations("]" + repeated_operations("2\x86", 40))),
             Contains("holds more than 10000 values"));
  CHECK_THAT(refusal_of("\x80\x02X\xff\xff\xff\x7f"
                        "abc"),
             Contains("ends within what begins at byte 7"));
  CHECK_THAT(refusal_of("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"),
             Contains("ends within what begins at byte 11"));
  CHECK_THAT(refusal_of(of_operations("\x8a\x09"
                                      "123456789")),
             Contains("holds a whole number of 9 bytes"));
  CHECK_THAT(refusal_of(of_operations("h\x07")), Contains("mentions at byte 4 what it does not hold"));
  CHECK_THAT(refusal_of(of_operations("")), Contains("takes more than it has"));
  CHECK_THAT(refusal_of(of_operations("t")), Contains("takes more than it has"));
  CHECK_THAT(refusal_of(of_operations("\x82\x01")), Contains("an operation 0x82 at byte 2"));
  CHECK_THAT(refusal_of("PK\x03\x04 and so on"), Contains("an archive whose end is missing"));
  const std::string half = pickled_file("/read/pickles/training_args-5.24.0.bin").substr(0, 3000);
  CHECK_THAT(refusal_of(half), Contains("an archive whose end is missing"));
  CHECK_THAT(refusal_of(std::string(std::size_t{1} << 21U, '.')), Contains("larger than 1 MiB"));
}

/// One text of 64 KiB that a list holds a hundred times would be 6.5 MB of settings.
TEST_CASE("a pickle that mentions a long text often is refused before it is copied") {
  std::string operations = "(X" + std::string("\x00\x00\x01\x00", 4) + std::string(65'536, 'a') + "q\x01";
  operations += repeated_operations("h\x01", 100) + "l";
  CHECK_THAT(refusal_of(of_operations(operations)), Contains("more than 1 MiB of texts"));
}
