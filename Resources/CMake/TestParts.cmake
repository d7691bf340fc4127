# SPDX-License-Identifier: GPL-3.0-or-later
# The parts of Resources/run-tests.sh, which ctest(1) reads as it runs them, two at a time: one that
# needs an Orthanc, and beside it one that only needs processors. Resources/test-parts.sh has their
# commands.

if(NOT DEFINED ENV{PERF_TEST_RUN})
  return()  # ctest runs unit tests, one by one
endif()

# add_part(NAME SECONDS LABEL PROPERTY VALUE...): it is ended after SECONDS, several times what it takes
# on two cores, so that a busy machine alone fails nothing. What stands first begins first.
set(cost 100)
function(add_part name seconds label)
  if(DEFINED ENV{PERF_LONG})
    math(EXPR seconds "${seconds} * 8")
  endif()
  add_test(${name} nice -n ${nice} ${CMAKE_CURRENT_LIST_DIR}/../test-parts.sh ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds} LABELS ${label} COST ${cost} ${ARGN})
  math(EXPR cost "${cost} - 1")
  set(cost ${cost} PARENT_SCOPE)
endfunction()

set(nice 0)
add_part(scripts 300 change RESOURCE_LOCK front)
add_part(python 300 change RESOURCE_LOCK front)
add_part(layout 300 change RESOURCE_LOCK front)
add_part(names 300 change RESOURCE_LOCK front)
add_part(exports 60 change RESOURCE_LOCK front)
add_part(dashboard 900 change RESOURCE_LOCK front)
add_part(unit 1200 change RESOURCE_LOCK front)
add_part(few 900 few RESOURCE_LOCK front)
add_part(integration 3600 change RESOURCE_LOCK front)

set(nice 10)
add_part(style 4800 change RESOURCE_LOCK beside)
add_part(sanitized-build 4800 change RESOURCE_LOCK beside FIXTURES_SETUP sanitized)

set(nice 0)
add_part(sanitizers 2400 change RUN_SERIAL TRUE FIXTURES_REQUIRED sanitized)
add_part(threads 2400 change RUN_SERIAL TRUE FIXTURES_REQUIRED sanitized)
add_part(pairs 3600 change RUN_SERIAL TRUE FIXTURES_REQUIRED sanitized)
add_part(alone 3600 change RUN_SERIAL TRUE)
add_part(fuzz 7200 long RUN_SERIAL TRUE FIXTURES_REQUIRED sanitized)
add_part(soak 3600 long RUN_SERIAL TRUE)
