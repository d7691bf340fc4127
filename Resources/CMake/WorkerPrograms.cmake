# SPDX-License-Identifier: GPL-3.0-or-later
# The programs that WorkerEngine runs beside libOrthancPerf.so. Orthanc looks for plugins in
# files that end in ".so" only, so that they may lie in its plugin folder.

define_property(GLOBAL PROPERTY PERF_WORKER_PROGRAMS)
set(PERF_EMULATED ${CMAKE_BINARY_DIR}/emulated)

# What each of them has, and a test's own
file(GLOB PROGRAM_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/*.cpp)
add_library(OrthancPerfProgram STATIC ${PROGRAM_SOURCES})
target_link_libraries(OrthancPerfProgram PUBLIC OrthancPerfCore)

# perf_add_worker_program(OrthancPerfDcmtk Dcmtk DCMTK): of Plugin/Transcoding/Program's folders
# Dcmdata, Frames and Dcmtk, with the library Perf::DCMTK, if that is there. All but main() is
# OrthancPerfDcmtkParts, for fuzz targets.
function(perf_add_worker_program name folder library)
  file(GLOB sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/Dcmdata/*.cpp
    ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/Frames/*.cpp
    ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/${folder}/*.cpp)

  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/${folder})
    return()
  elseif(NOT TARGET Perf::${library})
    message(STATUS "${name} is left out: no development files of ${library}")
    return()
  endif()

  set(main ${CMAKE_SOURCE_DIR}/Plugin/Transcoding/Program/${folder}/Main.cpp)
  list(REMOVE_ITEM sources ${main})
  add_library(${name}Parts OBJECT ${sources})
  target_link_libraries(${name}Parts PUBLIC OrthancPerfProgram Perf::${library})

  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${name}Parts)
  target_link_options(${name} PRIVATE -Wl,--as-needed)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  perf_install_stripped(${name} RUNTIME)
  set_property(GLOBAL APPEND PROPERTY PERF_WORKER_PROGRAMS ${name})
endfunction()

# perf_name_program(NAME variable): the path by which that program can be executed here. One for
# another processor is executed by a script of its name, in a folder of such.
function(perf_name_program name path)
  set(${path} $<TARGET_FILE:${name}> PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "\" \"" emulator)
    file(GENERATE OUTPUT ${PERF_EMULATED}/${name}
      CONTENT "#!/bin/sh\nexec \"${emulator}\" \"$<TARGET_FILE:${name}>\" \"$@\"\n"
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(${path} ${PERF_EMULATED}/${name} PARENT_SCOPE)
  endif()
endfunction()

# The target is built after the programs, and knows by PERF_HAS_DCMTK that there is
# OrthancPerfDcmtk. "paths" becomes the definitions of their paths, for the one source that wants
# them: PERF_DCMTK_PROGRAM, empty if there is none.
function(perf_give_worker_programs target paths)
  get_property(programs GLOBAL PROPERTY PERF_WORKER_PROGRAMS)
  set(definitions)
  foreach(library DCMTK GDCM)
    set(path)
    foreach(program ${programs})
      string(TOUPPER ${program} upper)
      if(upper STREQUAL ORTHANCPERF${library})
        perf_name_program(${program} path)
        target_compile_definitions(${target} PRIVATE PERF_HAS_${library})
        add_dependencies(${target} ${program})
      endif()
    endforeach()
    list(APPEND definitions "PERF_${library}_PROGRAM=\"${path}\"")
  endforeach()
  set(${paths} "${definitions}" PARENT_SCOPE)
  # Which looks for them beside itself as well
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PERF_EMULATED})
  endif()
endfunction()
