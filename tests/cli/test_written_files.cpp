// Files that are written and read: what is there is not written over unasked, and text is UTF-8.
#include "catch.hpp"
#include "cli/files.hpp"
#include "cli/folder.hpp"
#include "llmcalc/quantity/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

TEST_CASE("files are written whole, scripts to be started, and over what is there only when asked to") {
  const test::Folder folder;
  const std::filesystem::path into = folder.path() + "/new/one";
  const auto write = [&](const std::string& text, bool over) {
    const std::vector<LaunchFile> files{{"run.sh", text}, {"settings.yaml", text}};
    cli::write_files(into, files, over, "--write");
  };
  const auto starts = [&](const char* name) {
    using std::filesystem::perms;
    return (std::filesystem::status(into / name).permissions() & perms::owner_exec) != perms::none;
  };
  write("first", false);
  CHECK((starts("run.sh") && !starts("settings.yaml")));
  CHECK_THROWS_WITH(write("second", false), Contains("--write") && Contains("run.sh") && Contains("--force"));
  CHECK(cli::read_file(into / "run.sh", "x") == "first");
  write("third", true);
  CHECK(cli::read_file(into / "run.sh", "x") == "third");
  CHECK(cli::read_file(into / "settings.yaml", "x") == "third");
}

TEST_CASE("text in UTF-16 is refused as what it is") {
  const test::Folder folder;
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const auto path = folder.write("rows.csv", mark + "m");
    CHECK_THROWS_WITH(cli::read_file(path, "--rows"), Contains("--rows") && Contains("UTF-16"));
  }
}
