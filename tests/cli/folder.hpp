// A place for the files that a test writes.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace llmcalc::test {

/// A folder that is gone when the test is over. No two have the same name: tests run beside each other.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_.string(); }

  /// \return the path of the file that was written, in folders that are made for it
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("llmcalc-test-" + std::to_string(std::random_device{}()));
};

}  // namespace llmcalc::test
