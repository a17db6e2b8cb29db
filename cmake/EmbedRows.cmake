# llmcalc_embed_rows(<folder>): turns the tables presets/<folder>/*.rows into lists of initializers, <folder>/<name>.inc,
# for the sources that include them in a table, whose compiler checks names and numbers.
#
# A row is a line whose cells stand apart by "|"; "\|" is a bar in a text. The first line names the columns: what stands in quotes there is a text, a
# name that ends in "::" an enumeration, "if" and a parameter a condition on that, and all else C++ as it is written. An
# empty cell is what its member is where nobody says, and so are those that a row leaves out at its end. A line that begins
# with "#" is a remark. Each line stays the line that it was, so that the compiler names the line of a mistake. With a type, llmcalc_embed_rows(<folder> <type>), the
# tables whose first column is "key" are arrays of it, <name>_rows in <folder>/tables.inc, and those whose first column is
# an enumeration say what there is of it, in <folder>/<name>_names.inc.
#
# llmcalc_embed_sheets(<folder> <type>): the same of files that each describe one value of a type, in <folder>/sheets.inc.
# A line "member: value" sets a member, whose values have their names from a namespace that is called as the member; a
# member alone is true; "like: name" begins with the value of another file, whatever is its alone left out; and a member
# whose line names columns is a table, of the rows below it.
#
# llmcalc_embed_names(<folder>): the same of files of vocabularies. A line "Type:" is an enumeration, a row below it a value
# and its words, the canonical one first, and an empty line ends it; each becomes a vocabulary<Type>().

# llmcalc_embed_answers(<folder>): files of values that are described, in functions of <folder>/<name>.inc, of each value its
# name, the C++ that says where it is, and its meaning. An empty line ends a function.

set(llmcalc_rows_root "${CMAKE_CURRENT_LIST_DIR}/../presets")
string(ASCII 1 llmcalc_cell)
string(ASCII 3 llmcalc_bar)
string(ASCII 2 llmcalc_end)  # of a statement: a semicolon would end an item of a list

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
    elseif(column MATCHES "^if (.+)$")
      list(APPEND cells "[](${CMAKE_MATCH_1}) { return \\${number}${llmcalc_end} }")
    else()
      list(APPEND cells "${llmcalc_cell}\\${number}${llmcalc_cell}")
    endif()
  endforeach()
  list(JOIN cells ", " cells)
  set(${pattern} "${found}" PARENT_SCOPE)
  set(${row} "\n{${cells}}," PARENT_SCOPE)
endfunction()

# The initializers of rows under a header. Rows of many cells first: those that are done begin with a brace.
function(llmcalc_initializers header rows result)
  string(REGEX REPLACE " *[|] *" ";" columns "${header}")
  string(REPLACE "\\|" "${llmcalc_bar}" text "${rows}")
  string(REGEX REPLACE " *[|] *" "|" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  list(LENGTH columns count)
  while(count GREATER 0)
    llmcalc_row_of("${columns}" ${count} pattern row)
    string(REGEX REPLACE "${pattern}" "${row}" text "${text}")
    math(EXPR count "${count} - 1")
  endwhile()
  string(REGEX REPLACE "${llmcalc_cell}[A-Za-z:]*::${llmcalc_cell}|${llmcalc_cell}${llmcalc_cell}" "{}" text "${text}")
  string(REPLACE "${llmcalc_cell}" "" text "${text}")
  string(REPLACE "${llmcalc_end}" ";" text "${text}")
  string(REPLACE "${llmcalc_bar}" "|" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The lines of a file behind the directive that says which they are, remarks left empty.
function(llmcalc_read_rows file result)
  file(READ "${file}" text)
  string(REGEX REPLACE "\n#[^\n]*" "\n" text "\n${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(llmcalc_find_rows folder files)
  file(GLOB tables CONFIGURE_DEPENDS "${llmcalc_rows_root}/${folder}/*.rows")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
  set(${files} ${tables} PARENT_SCOPE)
endfunction()

function(llmcalc_embed_rows folder)
  llmcalc_find_rows(${folder} tables)
  set(arrays "")
  foreach(table IN LISTS tables)
    cmake_path(GET table STEM name)
    llmcalc_read_rows("${table}" text)
    while(text MATCHES "^(\n+)[a-z_0-9]+: [^\n]*(.*)$")  # what an engine is, in front of its options
      set(text "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    endwhile()
    string(REGEX MATCH "[^\n]+" header "${text}")
    string(REPLACE "\n${header}" "\n" text "${text}")
    llmcalc_initializers("${header}" "${text}" text)
    string(PREPEND text "#line 1 \"presets/${folder}/${name}.rows\"")
    if(ARGN AND header MATCHES "^\"key\"")
      string(APPEND arrays "constexpr ${ARGN} ${name}_rows[] = {\n${text}};\n")
    else()
      file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name}.inc" CONTENT "${text}" @ONLY)
    endif()
    if(ARGN AND header MATCHES "^[A-Za-z]+::")
      set(enumeration "${CMAKE_MATCH_0}")
      string(REGEX MATCHALL "\n{${enumeration}[a-z_0-9]+," names "${text}")
      string(REGEX REPLACE ";?\n{${enumeration}" "\n" names "${names}")
      file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name}_names.inc" CONTENT "${names}\n" @ONLY)
    endif()
  endforeach()
  if(ARGN)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${folder}/tables.inc" CONTENT "${arrays}" @ONLY)
  endif()
endfunction()

# A file as a class whose row() gives the value; its tables stand beside.
function(llmcalc_embed_sheet folder name type result)
  llmcalc_read_rows("${llmcalc_rows_root}/${folder}/${name}.rows" facts)
  set(tables "")
  set(assigned "")
  while(facts MATCHES "^(.*)\n([a-z_]+): ([^|\n]+[|][^\n]*)(.*)$")
    set(facts "${CMAKE_MATCH_1}")
    set(member "${CMAKE_MATCH_2}")
    llmcalc_initializers("${CMAKE_MATCH_3}" "${CMAKE_MATCH_4}" rows)
    string(PREPEND tables "\nstatic constexpr decltype(${type}::${member})::value_type ${member}[] = {${rows}};")
    string(APPEND assigned " row.${member} = ${member};")
  endwhile()
  string(REPLACE "\n" "${llmcalc_cell}\n" facts "${facts}${llmcalc_cell}")
  string(REGEX REPLACE "\n([a-z_.]+)${llmcalc_cell}" "\nrow.\\1 = true;" facts "${facts}")
  string(REPLACE "${llmcalc_cell}" "" facts "${facts}")
  string(REGEX REPLACE "\nlike: ([a-z_]+)" "\nrow = like(\\1_sheet::row());" facts "${facts}")
  string(REGEX REPLACE "\n([a-z_.]+): (\"[^\n]*)" "\nrow.\\1 = {\\2};" facts "${facts}")
  string(REGEX REPLACE "\n([a-z_.]+[.]|)([a-z_]+): *([^\n]*)" "\n{ using namespace values::\\2; row.\\1\\2 = {\\3}; }" facts
                       "${facts}")
  set(${result} "struct ${name}_sheet {\nstatic constexpr ${type} row() { ${type} row{};
#line 1 \"presets/${folder}/${name}.rows\"${facts}${assigned} return row; }${tables}};\n" PARENT_SCOPE)
endfunction()

# All in one class, in which each knows those behind it.
function(llmcalc_embed_sheets folder type)
  llmcalc_find_rows(${folder} files)
  set(classes "")
  set(all "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    llmcalc_embed_sheet(${folder} ${name} ${type} class)
    string(APPEND classes "${class}")
    string(APPEND all "Sheets::${name}_sheet::row(),\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${folder}/sheets.inc"
       CONTENT "struct Sheets {\n${classes}};\nconstexpr ${type} sheets[] = {\n${all}};\n" @ONLY)
endfunction()

function(llmcalc_write_vocabularies text file)
  string(REGEX REPLACE " *[|] *" "|" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(text "")
  set(instance "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(.+):$")
      set(named "Named<${CMAKE_MATCH_1}>")
      string(APPEND text "static std::span<const ${named}> words_of(${named}) { using enum ${CMAKE_MATCH_1};"
                         " static constexpr ${named} words[] = {")
      set(instance "}; return words; } template std::span<const ${named}> vocabulary();")
    elseif(line STREQUAL "")
      string(APPEND text "${instance}")
      set(instance "")
    else()
      string(REGEX REPLACE "^([^|]+).*" "\\1" value "${line}")
      string(REGEX REPLACE "[|]([^|]+)" "{${value}, \"\\1\"}," line "${line}")
      string(REGEX REPLACE "^[^{]+" "" line "${line}")
      string(APPEND text "${line}")
    endif()
    string(APPEND text "\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${file}.inc" CONTENT "#line 1 \"presets/${file}.rows\"${text}" @ONLY)
endfunction()

function(llmcalc_embed_names folder)
  llmcalc_find_rows(${folder} files)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    llmcalc_read_rows("${file}" text)
    llmcalc_write_vocabularies("${text}" ${folder}/${name})
  endforeach()
endfunction()

function(llmcalc_embed_answers folder)
  llmcalc_find_rows(${folder} files)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    llmcalc_read_rows("${file}" text)
    string(REGEX REPLACE " *[|] *" "|" text "${text}\n")
    string(REGEX REPLACE "\nlet ([a-z_]+)[|]([^\n]+)" "\nconst auto& \\1 = \\2;" text "${text}")
    string(REGEX REPLACE "\nwith ([a-z_]+)[|]([^\n]+)" "\ndescribe_\\1(field, \\2);" text "${text}")
    string(REGEX REPLACE "\nobject ([a-z_]+)[|]([a-z_]+)[|]([^|\n]+)[|]([^\n]+)"
                         "\nfield.object(\"\\1\", \"\\4\", [&] { describe_\\2(field, \\3); });" text "${text}")
    string(REGEX REPLACE "\npart ([a-z_]+)[|]([^\n]+)" "\nvoid describe_\\1(auto& field, \\2) {" text "${text}")
    string(REGEX REPLACE "\nrecord ([a-z_]+)[|]([^|\n]+)[|]([^\n]+)"
                         "\nvoid describe(auto& field, \\2) { field.is(\"\\1\", \"\\3\");" text "${text}")
    string(REGEX REPLACE "\nanswer ([a-z_]+)[|]([^|\n]+& ([a-z]+))[|]([^\n]+)"
                         "\nvoid describe(auto& field, \\2) { field.answer(\"\\1\", \\3.version, \"\\4\");" text "${text}")
    string(REGEX REPLACE "\n([a-z_0-9]+)[|]([^|\n]+)[|]([^\n]+)" "\nfield(\"\\1\", \\2, \"\\3\");" text "${text}")
    string(REGEX REPLACE "([^\n])\n\n" "\\1\n}\n" text "${text}")
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name}.inc"
         CONTENT "#line 1 \"presets/${folder}/${name}.rows\"${text}" @ONLY)
  endforeach()
endfunction()

function(llmcalc_write_engine engine)
  llmcalc_read_rows("${llmcalc_rows_root}/engines/${engine}.rows" text)
  string(REGEX REPLACE "\n\".*" "\n" text "${text}")
  string(REGEX REPLACE "\nwords: [^\n]*" "\nconstinit const EngineRow ${engine}_row{.engine = spec::Engine::${engine}," text
                       "${text}")
  string(REGEX REPLACE "\n([a-z_0-9]+): ([^\n]+)" "\n.\\1 = \\2," text "${text}")
  string(PREPEND text "#line 1 \"presets/engines/${engine}.rows\"")
  if(text MATCHES "${engine}_options")
    string(PREPEND text "constexpr EngineOption ${engine}_options[] = {\n#include \"engines/${engine}.inc\"\n};\n")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/engines/${engine}_row.inc" CONTENT "${text}};\n" @ONLY)
endfunction()

# llmcalc_embed_engines(<header>): the engines of the enumeration there, in its order: their words and what else their files
# presets/engines/<name>.rows say of them in front of their options. The words go into engines/names.inc, the rest into
# engines/<name>_row.inc, which src/serving/engine_<name>.cpp includes; rows are declared in engines/rows_declared.inc and
# listed in engines/rows.inc, those that cut what is dense in engines/cuts_dense.inc.
function(llmcalc_embed_engines header)
  llmcalc_embed_rows(engines)
  file(READ "${header}" enumeration)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  string(REGEX MATCH "enum class Engine {([^}]+)}" enumeration "${enumeration}")
  string(REGEX MATCHALL "[a-z_]+" engines "${CMAKE_MATCH_1}")
  set(words "\nEngine:")
  set(rows "")
  set(cutting "")
  foreach(engine IN LISTS engines)
    llmcalc_read_rows("${llmcalc_rows_root}/engines/${engine}.rows" text)
    if(text MATCHES "\ncuts_dense: true")
      string(APPEND cutting "Engine::${engine},\n")
    endif()
    string(REGEX MATCH "\nwords: ([^\n]+)" text "${text}")
    string(APPEND words "\n${engine} | ${CMAKE_MATCH_1}")
    string(APPEND rows "${engine}_row,\n")
    llmcalc_write_engine(${engine})
  endforeach()
  llmcalc_write_vocabularies("${words}\n" engines/names)
  string(REGEX REPLACE "([a-z_]+)," "extern const EngineRow \\1;" declared "${rows}")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/engines/rows.inc" CONTENT "${rows}" @ONLY)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/engines/cuts_dense.inc" CONTENT "${cutting}" @ONLY)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/engines/rows_declared.inc" CONTENT "${declared}" @ONLY)
endfunction()
