# SPDX-License-Identifier: GPL-3.0-or-later
# The dashboard of WebApp/, checked and built by npm, and embedded as a C++ source whose path is
# DASHBOARD_SOURCE. Without npm the plugin is built all the same, and says under /perf that it has
# no dashboard.

option(PERF_DASHBOARD "Embed the dashboard (needs Node.js 18 or newer, and npm)" ON)

find_program(NPM npm)
find_program(NODE NAMES node nodejs)

if(PERF_DASHBOARD AND NPM AND NODE)
  set(WEBAPP ${CMAKE_SOURCE_DIR}/WebApp)
  set(DASHBOARD_SOURCE ${CMAKE_BINARY_DIR}/Dashboard/DashboardFiles.cpp)
  file(GLOB_RECURSE WEBAPP_SOURCES CONFIGURE_DEPENDS ${WEBAPP}/src/*)

  # Shared by all build folders; npm writes this file when all packages are there. Where they are,
  # as after setup.sh, there is no rule: Ninja would run it once in each new folder.
  set(PACKAGES ${WEBAPP}/node_modules/.package-lock.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WEBAPP}/package-lock.json)
  if(${WEBAPP}/package-lock.json IS_NEWER_THAN ${PACKAGES})
    add_custom_command(
      OUTPUT ${PACKAGES}
      COMMAND ${NPM} ci --loglevel=error --no-audit --no-fund
      COMMAND ${CMAKE_COMMAND} -E touch ${PACKAGES}
      DEPENDS ${WEBAPP}/package.json ${WEBAPP}/package-lock.json
      WORKING_DIRECTORY ${WEBAPP}
      COMMENT "Installing the dashboard's packages from the npm registry"
      VERBATIM)
  endif()

  add_custom_command(
    OUTPUT ${DASHBOARD_SOURCE}
    COMMAND ${NPM} run --silent check
    COMMAND ${NPM} run --silent build -- --logLevel warn --outDir ${CMAKE_BINARY_DIR}/Dashboard/dist
    COMMAND ${NODE} embed.mjs ${CMAKE_BINARY_DIR}/Dashboard/dist ${DASHBOARD_SOURCE}
    DEPENDS ${PACKAGES} ${WEBAPP_SOURCES} ${WEBAPP}/index.html ${WEBAPP}/embed.mjs
      ${WEBAPP}/vite.config.ts ${WEBAPP}/tsconfig.json
      ${CMAKE_SOURCE_DIR}/Resources/Documentation/guide.md ${CMAKE_SOURCE_DIR}/Plugin/Advisor/Findings.json
    WORKING_DIRECTORY ${WEBAPP}
    COMMENT "Building the dashboard"
    VERBATIM)
else()
  message(WARNING "The plugin is built without its dashboard, which needs npm alone: apt install nodejs npm")
  set(DASHBOARD_SOURCE ${CMAKE_SOURCE_DIR}/Resources/CMake/NoDashboard.cpp)
endif()
