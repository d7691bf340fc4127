# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed has no debugging symbols, which are nine tenths of its size; those in the build
# folder stay.

include(GNUInstallDirs)

set(PERF_PLUGIN_FOLDER ${CMAKE_INSTALL_DATADIR}/orthanc/plugins CACHE STRING
  "Where the library and its programs are installed, below the prefix")

# perf_install_stripped(OrthancPerf LIBRARY): into the folder of Orthanc's plugins
function(perf_install_stripped target kind)
  set(folder ${PERF_PLUGIN_FOLDER})
  install(TARGETS ${target} ${kind} DESTINATION ${folder})
  if(CMAKE_STRIP)
    install(CODE "
      execute_process(
        COMMAND \"${CMAKE_STRIP}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\"
        COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endfunction()
