# cmake -DBUILD=<our build> -DSCRATCH=<dir> -DGENERATOR=... -DCOMPILER=... -DVERSION=... -P install_and_use.cmake
# Installs the build into a fresh folder, builds the consumer against what it finds there (the archive, and the shared
# library where that was built) and runs all programs.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${SCRATCH}")
set(prefix "${SCRATCH}/installed")

function(run expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT output MATCHES "${expected}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexit ${result}, expected 0 and '${expected}':\n${output}")
  endif()
endfunction()

run("" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
run("" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${SCRATCH}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}")
run("" "${CMAKE_COMMAND}" --build "${SCRATCH}/build")
file(GLOB consumers "${SCRATCH}/build/consumer" "${SCRATCH}/build/consumer_shared")
foreach(consumer IN LISTS consumers)
  run("^fits, a step takes [0-9.]+ s\n70B: 1, [0-9]+ bytes of JSON, ${VERSION}\n--model: no model is called 'llama-3-8c'" "${consumer}")
endforeach()
if(EXISTS "${prefix}/src/memory/step_walk.hpp")
  message(FATAL_ERROR "a header of our own rooms was installed")
endif()
run("${VERSION}" "${prefix}/bin/llmcalc" --version)
