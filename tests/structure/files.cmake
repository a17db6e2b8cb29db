# cmake -DROOT=<tree> -P files.cmake: how long a file may be, how many comments may begin without a noun, and that no
# file knows the machine it was written on.

cmake_minimum_required(VERSION 3.25)

set(longest 400)  # lines of one source file
set(most_without_noun 253)  # comments that begin so, of the whole tree; this number only falls
set(without_noun "///<? (Of|What|The same|With|In)[ ,:]")
set(begun_without_noun 0)
file(GLOB_RECURSE sources RELATIVE "${ROOT}" "${ROOT}/src/*.[ch]pp" "${ROOT}/include/*.[ch]pp" "${ROOT}/tests/*.[ch]pp")
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER longest)
    message(SEND_ERROR "${source}: ${lines} lines, more than ${longest}: is it one thing?")
  endif()
  if(source MATCHES "^(src|include)/")
    string(REGEX MATCHALL "${without_noun}" begun "${text}")
    list(LENGTH begun count)
    math(EXPR begun_without_noun "${begun_without_noun} + ${count}")
  endif()
endforeach()

if(begun_without_noun GREATER most_without_noun)
  message(SEND_ERROR "${begun_without_noun} comments begin with Of, What, The same, With or In, more than "
                     "${most_without_noun}: what is it that they tell of?")
endif()

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
