# Writes what the program says of itself: pages for man, completions for shells. Variables: PROGRAM, MANDIR, DATADIR.

set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

function(said file)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${prefix}/${file}" "${text}")
  message(STATUS "Installing: ${prefix}/${file}")
endfunction()

execute_process(COMMAND "${PROGRAM}" man list OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" pages "${pages}")
foreach(page IN LISTS pages)
  said("${MANDIR}/man1/${page}.1" man ${page})
endforeach()
said("${DATADIR}/bash-completion/completions/llmcalc" completion bash)
said("${DATADIR}/zsh/vendor-completions/_llmcalc" completion zsh)
said("${DATADIR}/fish/vendor_completions.d/llmcalc.fish" completion fish)
