# SPDX-License-Identifier: GPL-3.0-or-later
# add_test_plugin(NAME): build/NAME/libNAME.so of NAME.cpp, a plugin of the integration tests'
function(add_test_plugin name)
  add_library(${name} MODULE ${name}.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/Resources/IntegrationTests)
  target_include_directories(${name} SYSTEM PRIVATE ${ORTHANC_SDK})
  target_link_libraries(${name} PRIVATE Perf::Settings PkgConfig::JSONCPP)
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${CMAKE_SOURCE_DIR}/Resources/CMake/EntryPoints.map)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${name})
endfunction()
