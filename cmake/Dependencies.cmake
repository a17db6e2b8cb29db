# The libraries we stand on. The system's package is taken if there is one; otherwise the release named here is
# fetched. Declared as SYSTEM, so that our warnings do not judge their headers.

include(FetchContent)

find_package(Threads REQUIRED)  # the search of `plan`

FetchContent_Declare(
  fmt
  GIT_REPOSITORY https://github.com/fmtlib/fmt.git
  GIT_TAG 10.2.1
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS 9)
FetchContent_Declare(
  nlohmann_json
  GIT_REPOSITORY https://github.com/nlohmann/json.git
  GIT_TAG v3.11.3
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS 3.11)
FetchContent_Declare(
  yaml-cpp
  GIT_REPOSITORY https://github.com/jbeder/yaml-cpp.git
  GIT_TAG 0.8.0
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS 0.7)
FetchContent_Declare(
  tomlplusplus
  GIT_REPOSITORY https://github.com/marzer/tomlplusplus.git
  GIT_TAG v3.3.0
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS 3)

# A fetched fmt is installed beside the library that links it; nlohmann/json leaves no trace in a binary.
set(FMT_INSTALL ON)
set(JSON_Install OFF)
set(YAML_CPP_INSTALL ON)
set(YAML_CPP_BUILD_TOOLS OFF)
set(YAML_CPP_BUILD_TESTS OFF)
# What is fetched becomes part of what we build.
set(llmcalc_builds_shared ${BUILD_SHARED_LIBS})
set(BUILD_SHARED_LIBS OFF)
FetchContent_MakeAvailable(fmt nlohmann_json yaml-cpp tomlplusplus)
set(BUILD_SHARED_LIBS ${llmcalc_builds_shared})

# Only the headers of libcurl: the library is loaded by the first request. Without it the Hub's cache is still read.
find_path(LLMCALC_CURL_INCLUDE NAMES curl/curl.h PATH_SUFFIXES x86_64-linux-gnu aarch64-linux-gnu DOC "libcurl's headers")
mark_as_advanced(LLMCALC_CURL_INCLUDE)

# A shared yaml-cpp would be loaded by every run, also by those that read no YAML: the program takes its archive where
# there is one.
find_library(LLMCALC_YAML_ARCHIVE NAMES libyaml-cpp.a DOC "Static yaml-cpp")
mark_as_advanced(LLMCALC_YAML_ARCHIVE)
set(llmcalc_yaml yaml-cpp)
if(LLMCALC_YAML_ARCHIVE AND NOT yaml-cpp_SOURCE_DIR)
  set(llmcalc_yaml "${LLMCALC_YAML_ARCHIVE}")
endif()

if(LLMCALC_BUILD_TESTS)
  FetchContent_Declare(
    Catch2
    GIT_REPOSITORY https://github.com/catchorg/Catch2.git
    GIT_TAG v3.5.4
    GIT_SHALLOW ON
    SYSTEM
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(Catch2)
  if(catch2_SOURCE_DIR)
    list(APPEND CMAKE_MODULE_PATH "${catch2_SOURCE_DIR}/extras")
  elseif(Catch2_DIR)
    list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
  endif()
endif()
