# SPDX-License-Identifier: GPL-3.0-or-later
# What a portable build has otherwise (PERF_PORTABLE; Resources/build-portable.sh prepares it). First
# the codec libraries as static ones, with what each stands on, which a shared one would know itself.

function(perf_add_static_codecs name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FOLDERS;LIBRARIES")
  add_library(Perf::${name} INTERFACE IMPORTED)
  find_path(PERF_DCMTK_HEADERS dcmtk/dcmdata/dctk.h REQUIRED)
  target_include_directories(Perf::${name} SYSTEM INTERFACE ${PERF_DCMTK_HEADERS})
  foreach(folder ${ARG_FOLDERS})
    target_include_directories(Perf::${name} SYSTEM INTERFACE ${PERF_DCMTK_HEADERS}/${folder})
  endforeach()
  foreach(library ${ARG_LIBRARIES} dcmdata oflog ofstd z)
    find_library(PERF_LIBRARY_${library} NAMES lib${library}.a REQUIRED)
    target_link_libraries(Perf::${name} INTERFACE ${PERF_LIBRARY_${library}})
  endforeach()
  target_link_libraries(Perf::${name} INTERFACE Threads::Threads)
endfunction()

perf_add_static_codecs(DCMTK
  LIBRARIES dcmjpeg ijg8 ijg12 ijg16 dcmjpls dcmtkcharls dcmimage dcmimgle)
perf_add_static_codecs(GDCM
  FOLDERS gdcm-3.0
  LIBRARIES gdcmMSFF gdcmDSED gdcmCommon gdcmjpeg8 gdcmjpeg12 gdcmjpeg16 openjp2 charls)

# Of the headers that are read by nearly every source: those in this folder, by how the target is compiled
if(PERF_PRECOMPILED)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -include-pch -Xclang \
${PERF_PRECOMPILED}/$<IF:$<STREQUAL:$<TARGET_PROPERTY:NAME>,UnitTests>,tests,plugin>.pch>")
endif()

# What the C library that it is built for does not have yet
add_library(PerfOldGlibc STATIC Resources/Packaging/OldGlibc.c)
target_link_libraries(PerfSettings INTERFACE PerfOldGlibc ${CMAKE_DL_LIBS})

set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -pie")
