# cmake -DRULE=rooms|files -DWORK=<scratch> -P can_fail.cmake: breaks every rule once, alone in a small tree, and
# requires that the checker says so; and that it is content with a small tree that breaks none.

cmake_minimum_required(VERSION 3.25)

# run_checker(<path> <text>): leaves `output` and `result` of the checker over a tree of one good file and this one.
function(run_checker path text)
  file(REMOVE_RECURSE "${WORK}")
  file(WRITE "${WORK}/src/quantity/good.cpp" "#include \"llmcalc/quantity/good.hpp\"\n#include <vector>\n")
  file(WRITE "${WORK}/${path}" "${text}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -DROOT=${WORK} -P "${CMAKE_CURRENT_LIST_DIR}/${RULE}.cmake"
                  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
  string(REGEX REPLACE "[ \n]+" " " output "${out}${err}")  # messages come wrapped
  set(output "${output}" PARENT_SCOPE)
  set(result ${result} PARENT_SCOPE)
endfunction()

function(expect_breach path text message)
  run_checker("${path}" "${text}")
  if(result EQUAL 0 OR NOT output MATCHES "${message}")
    message(FATAL_ERROR "${path} was not caught, expected '${message}':\n${output}")
  endif()
endfunction()

run_checker("src/spec/good.cpp" "#include \"llmcalc/quantity/good.hpp\"\n#include \"spec/good.hpp\"\n#include <string>\n")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "a tree that keeps the rules was refused:\n${output}")
endif()

if(RULE STREQUAL "rooms")
  expect_breach("src/quantity/bad.cpp" "#include \"llmcalc/spec/a.hpp\"\n" "quantity is not downstream of spec")
  expect_breach("src/timing/bad.cpp" "#include <llmcalc/memory/a.hpp>\n" "timing is not downstream of memory")
  expect_breach("src/read/bad.cpp" "  #  include \"program/a.hpp\"\n" "read is not downstream of program")
  expect_breach("src/render/bad.cpp" "#include \"llmcalc/read/a.hpp\"\n" "render is not downstream of read")
  expect_breach("include/llmcalc/spec/bad.hpp" "#include \"spec/a.hpp\"\n" "must not need one that is not")
  expect_breach("src/spec/bad.hpp" "#include \"spec/inner/a.hpp\"\n" "must not need a private one")
  expect_breach("src/cli/bad.cpp" "#include \"read/words/a.hpp\"\n" "what read does not publish is its own")
  expect_breach("include/llmcalc/read/bad.hpp" "#include <nlohmann/json.hpp>\n" "shows no library")
  expect_breach("src/read/bad.hpp" "#include <fmt/format.h>\n" "shows no library")
  expect_breach("src/read/bad.cpp" "#include <fstream>\n" "only the command line does input")
  expect_breach("src/read/bad.cpp" "#include \"../spec/a.hpp\"\n" "named by their room")
  expect_breach("src/spec/bad.cpp" "#include \"a.hpp\"\n" "named by their room")
  expect_breach("src/misc/a.cpp" "\n" "stands in no room")
else()
  string(REPEAT "int a;\n\n" 201 long_text)
  string(JOIN "/" neighbour ".." "shared" "data.csv")
  string(JOIN "/" workplace "" "work" "main")
  expect_breach("src/spec/bad.cpp" "${long_text}" "402 lines")
  expect_breach("docs/bad.md" "see ${neighbour}\n" "a path of one machine")
  expect_breach("scripts/bad" "cd ${workplace}\n" "a path of one machine")
  expect_breach("docs/worse.md" "built in ${WORK}/build\n" "a path of one machine")
endif()
file(REMOVE_RECURSE "${WORK}")
