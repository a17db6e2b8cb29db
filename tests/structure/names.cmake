# cmake -DROOT=<tree> -P names.cmake: that code asks what a generation of accelerators can do, never for its name or make,
# and that what frameworks differ in stands in their files (presets/frameworks), not behind a question for one of them.

cmake_minimum_required(VERSION 3.25)

set(asks_for_a_name "(arch|vendor|generation\\.id)(\\.(starts_with|ends_with|find)\\(| *[!=]= *)\"")
file(GLOB_RECURSE sources RELATIVE "${ROOT}" "${ROOT}/src/*.[ch]pp" "${ROOT}/include/*.[ch]pp")
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  if(text MATCHES "${asks_for_a_name}")
    message(SEND_ERROR "${source}: '${CMAKE_MATCH_0}' asks for a name: what can it do (presets/generations)?")
  endif()
  string(REPLACE "Framework::count" "" text "${text}")
  if(source MATCHES "^src/(frameworks|layers|program|memory|timing|answer|search)/" AND text MATCHES "Framework::[a-z_]+")
    message(SEND_ERROR "${source}: '${CMAKE_MATCH_0}' asks for a framework: what does it do (presets/frameworks)?")
  endif()
endforeach()
if(NOT sources)
  message(FATAL_ERROR "no sources under ${ROOT}")
endif()
