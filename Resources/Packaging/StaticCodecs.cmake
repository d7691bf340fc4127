# SPDX-License-Identifier: GPL-3.0-or-later
# The codec libraries as static ones (PERF_PORTABLE; Resources/build-portable.sh builds them), with
# what each stands on, which a shared library would know itself.

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
  LIBRARIES gdcmMSFF gdcmIOD gdcmDSED gdcmDICT gdcmCommon gdcmjpeg8 gdcmjpeg12 gdcmjpeg16 openjp2
    charls gdcmuuid gdcmmd5)
