# llmcalc_embed_rows(<folder>): turns the tables presets/<folder>/*.rows into lists of initializers, <folder>/<name>.inc,
# for the sources that include them in a table, whose compiler checks names and numbers.
#
# A row is a line whose cells stand apart by "|". The first line names the columns: what stands in quotes there is a text, a
# name that ends in "::" an enumeration, and all else C++ as it is written. An empty cell is what its member is where nobody
# says, and so are those that a row leaves out at its end. A line that begins with "#" is a remark.

set(llmcalc_rows_root "${CMAKE_CURRENT_LIST_DIR}/../presets")
string(ASCII 1 llmcalc_cell)

# One row of so many columns as C++, with \1 to \9 in the place of its cells, and what finds such rows.
function(llmcalc_row_of columns count pattern row)
  set(found "\n([^{|\n][^|\n]*)")
  set(cells "")
  foreach(number RANGE 1 ${count})
    math(EXPR index "${number} - 1")
    list(GET columns ${index} column)
    if(number GREATER 1)
      string(APPEND found "[|]([^|\n]*)")
    endif()
    if(column MATCHES "^\"")
      list(APPEND cells "\"\\${number}\"")
    elseif(column MATCHES "::$")
      list(APPEND cells "${llmcalc_cell}${column}\\${number}${llmcalc_cell}")
    else()
      list(APPEND cells "${llmcalc_cell}\\${number}${llmcalc_cell}")
    endif()
  endforeach()
  list(JOIN cells ", " cells)
  set(${pattern} "${found}" PARENT_SCOPE)
  set(${row} "\n{${cells}}," PARENT_SCOPE)
endfunction()

# Rows of many cells first: those that are done begin with a brace.
function(llmcalc_embed_table table output)
  file(READ "${table}" text)
  string(REGEX REPLACE "\n#[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n+" "\n" text "${text}")
  string(REGEX REPLACE " *[|] *" "|" text "${text}")
  string(REGEX MATCH "[^\n]+" header "${text}")
  string(REPLACE "\n${header}" "" text "${text}")
  string(REPLACE "|" ";" columns "${header}")
  string(REPLACE "\"" "\\\"" text "${text}")
  list(LENGTH columns count)
  while(count GREATER 0)
    llmcalc_row_of("${columns}" ${count} pattern row)
    string(REGEX REPLACE "${pattern}" "${row}" text "${text}")
    math(EXPR count "${count} - 1")
  endwhile()
  string(REGEX REPLACE "${llmcalc_cell}[A-Za-z:]*::${llmcalc_cell}|${llmcalc_cell}${llmcalc_cell}" "{}" text "${text}")
  string(REPLACE "${llmcalc_cell}" "" text "${text}")
  file(CONFIGURE OUTPUT "${output}" CONTENT "${text}" @ONLY)
endfunction()

function(llmcalc_embed_rows folder)
  file(GLOB tables CONFIGURE_DEPENDS "${llmcalc_rows_root}/${folder}/*.rows")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
  foreach(table IN LISTS tables)
    cmake_path(GET table STEM name)
    llmcalc_embed_table("${table}" "${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name}.inc")
  endforeach()
endfunction()
