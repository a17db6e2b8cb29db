# cmake -DROOT=<tree> -P files.cmake: how long a file may be, that no comment begins without its noun, and that no file
# knows the machine it was written on.

cmake_minimum_required(VERSION 3.25)

set(longest 400)  # lines of one source file
set(without_noun "///<? (Of|What|The same|With|In)[ ,:][^\n]*")
file(GLOB_RECURSE sources RELATIVE "${ROOT}" "${ROOT}/src/*.[ch]pp" "${ROOT}/include/*.[ch]pp" "${ROOT}/tests/*.[ch]pp")
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER longest)
    message(SEND_ERROR "${source}: ${lines} lines, more than ${longest}: is it one thing?")
  endif()
  if(source MATCHES "^(src|include)/")
    string(REGEX MATCH "${without_noun}" begun "${text}")
    if(begun)
      message(SEND_ERROR "${source}: what is it that this tells of? ${begun}")
    endif()
  endif()
endforeach()

# The words are put together here, so that this file does not hold them.
string(JOIN "/" beside_the_repository ".." "shared")
string(JOIN "/" one_workplace "" "work" "")
set(machine_words "${beside_the_repository}" "\"${one_workplace}" " ${one_workplace}" "=${one_workplace}" "${ROOT}/")

file(GLOB_RECURSE everything RELATIVE "${ROOT}" "${ROOT}/*")
list(FILTER everything EXCLUDE REGEX "^(build/|\\.git(/|$)|\\.cache/)")  # .git is a file in a second worktree
foreach(file IN LISTS everything)
  file(READ "${ROOT}/${file}" text)
  foreach(word IN LISTS machine_words)
    string(FIND "${text}" "${word}" position)
    if(position GREATER_EQUAL 0)
      message(SEND_ERROR "${file}: a path of one machine: ${word}")
    endif()
  endforeach()
endforeach()

if(NOT everything)
  message(FATAL_ERROR "no files under ${ROOT}")
endif()
list(LENGTH everything count)
message("${count} files looked at")
