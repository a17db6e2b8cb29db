# cmake -DPROGRAM=<llmcalc> -DCASE=<folder> -DHOME=<scratch> [-DUPDATE=ON] [-DCHECK=<schema_check> -DSCHEMA=<schema>]
#       -P run_case.cmake
#
# Runs one case and compares the bytes of stdout and stderr and the exit code with what the folder holds; with UPDATE
# it writes them into the folder instead, with CHECK it holds the whole of stdout against a schema and nothing else. Where
# the folder has a file `part`, only the members of the answer that it names are compared.

file(READ "${CASE}/cmd" command_line)
separate_arguments(arguments UNIX_COMMAND "${command_line}")

# Nothing of the person's own machine reaches the program: no colours, no presets of theirs, no terminal.
cmake_path(GET CASE FILENAME name)
set(home "${HOME}/home")
set(scratch "${HOME}/actual/${name}")
if(CHECK)
  set(scratch "${HOME}/whole/${name}")
endif()
file(MAKE_DIRECTORY "${home}" "${scratch}")
set(input "/dev/null")
if(EXISTS "${CASE}/stdin")
  set(input "${CASE}/stdin")
endif()

if(UPDATE)
  set(scratch "${CASE}")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env NO_COLOR=1 LC_ALL=C "HOME=${home}" "XDG_CONFIG_HOME=${home}" "${PROGRAM}"
          ${arguments}
  WORKING_DIRECTORY "${CASE}"
  INPUT_FILE "${input}"
  OUTPUT_FILE "${scratch}/stdout"
  ERROR_FILE "${scratch}/stderr"
  RESULT_VARIABLE exit_code
  TIMEOUT 600)
if(CHECK)
  execute_process(COMMAND "${CHECK}" "${SCHEMA}" "${scratch}/stdout" COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
if(EXISTS "${CASE}/part")
  file(RENAME "${scratch}/stdout" "${HOME}/${name}.json")
  cmake_path(GET CMAKE_CURRENT_LIST_FILE PARENT_PATH here)
  execute_process(COMMAND awk -v "part=${CASE}/part" -f "${here}/part.awk" "${HOME}/${name}.json"
                  OUTPUT_FILE "${scratch}/stdout" COMMAND_ERROR_IS_FATAL ANY)
endif()
file(WRITE "${scratch}/exit" "${exit_code}\n")
if(UPDATE)
  return()
endif()

set(differs OFF)
foreach(stream IN ITEMS stdout stderr exit)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${CASE}/${stream}" "${scratch}/${stream}"
                  RESULT_VARIABLE unequal OUTPUT_QUIET ERROR_QUIET)
  if(unequal)
    set(differs ON)
    message("--- ${name}: ${stream} differs, expected - and got +")
    execute_process(COMMAND diff -u "${CASE}/${stream}" "${scratch}/${stream}")
  endif()
endforeach()
if(differs)
  message(FATAL_ERROR "llmcalc ${command_line}")
endif()
