# SPDX-License-Identifier: GPL-3.0-or-later
# "cpack" makes a package for the release of Debian that it runs on (Resources/build-deb.sh): with
# -DPERF_DEB=ON and -DCMAKE_INSTALL_PREFIX=/usr. The layout is that of Debian's own plugins, such as
# orthanc-dicomweb: what is compiled below /usr/lib/orthanc, a link to the library where Orthanc looks
# for plugins, and dpkg's trigger by which Orthanc is started anew.

option(PERF_DEB "For Debian's package: what it has beyond the library and its programs" OFF)

if(PERF_DEB)
  set(PERF_MAINTAINER "Maintainers of orthanc-perf <maintainers@orthanc-perf.example>" CACHE STRING
    "Who answers for the package")
  set(DEBIAN ${CMAKE_SOURCE_DIR}/Resources/Packaging/debian)
  set(DOC ${CMAKE_INSTALL_DATADIR}/doc/orthanc-perf)
  set(MADE ${CMAKE_BINARY_DIR}/debian)
  file(MAKE_DIRECTORY ${MADE})

  # A package of the next release of Debian counts as newer, so that an upgrade of both goes well
  file(STRINGS /etc/os-release RELEASE REGEX "^(VERSION_ID|VERSION_CODENAME)=")
  string(REGEX MATCH "VERSION_ID=\"?([0-9]+)" PERF_DEB_RELEASE "${RELEASE}")
  set(PERF_DEB_RELEASE 1+deb${CMAKE_MATCH_1})
  string(REGEX MATCH "VERSION_CODENAME=([a-z]+)" PERF_DEB_SUITE "${RELEASE}")
  set(PERF_DEB_SUITE ${CMAKE_MATCH_1})
  set(PERF_DEB_VERSION ${PROJECT_VERSION}-${PERF_DEB_RELEASE})
  string(TIMESTAMP PERF_DEB_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH's, if set

  # Orthanc ignores what does not end in ".so": the programs lie beside what the link leads to
  file(CREATE_LINK ../../../${PERF_PLUGIN_FOLDER}/libOrthancPerf.so
    ${MADE}/libOrthancPerf.so SYMBOLIC)
  install(FILES ${MADE}/libOrthancPerf.so
    DESTINATION ${CMAKE_INSTALL_DATADIR}/orthanc/plugins)

  install(FILES ${DEBIAN}/perf.json DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/orthanc)
  install(FILES ${DEBIAN}/copyright ${DEBIAN}/README.Debian DESTINATION ${DOC})
  install(DIRECTORY Resources/Documentation DESTINATION ${DOC}
    FILES_MATCHING PATTERN *.md PATTERN *.yaml PATTERN *.svg PATTERN *.png)
  install(FILES Resources/Configuration/access.lua Resources/Configuration/perf.json
    DESTINATION ${DOC}/examples)
  set(SHARED ${CMAKE_INSTALL_DATADIR}/orthanc-perf)
  install(FILES Resources/Grafana/orthanc-perf.json DESTINATION ${SHARED}/grafana)
  install(FILES Resources/Prometheus/recording.yml Resources/Prometheus/alerting.yml
    DESTINATION ${SHARED}/prometheus)

  # For several servers. As Debian's own scripts, with Debian's Python (Debian Python Policy, 2.4.2);
  # its file with servers is not beside it
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS Resources/Fleet/perf-fleet)
  file(READ Resources/Fleet/perf-fleet FLEET)
  string(REPLACE "#!/usr/bin/env python3" "#!/usr/bin/python3" FLEET "${FLEET}")
  file(WRITE ${MADE}/perf-fleet "${FLEET}")
  install(PROGRAMS ${MADE}/perf-fleet DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY Resources/Fleet/ DESTINATION ${DOC}/examples/fleet
    FILES_MATCHING PATTERN *.* PATTERN __pycache__ EXCLUDE)

  set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${PERF_MAINTAINER})
  configure_file(${DEBIAN}/changelog.in ${MADE}/changelog.Debian @ONLY)
  configure_file(NEWS ${MADE}/NEWS COPYONLY)
  configure_file(${DEBIAN}/perf-fleet.1 ${MADE}/perf-fleet.1 @ONLY)
  foreach(text changelog.Debian NEWS perf-fleet.1)
    execute_process(COMMAND gzip -9nf ${MADE}/${text} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  install(FILES ${MADE}/changelog.Debian.gz ${MADE}/NEWS.gz DESTINATION ${DOC})
  install(FILES ${MADE}/perf-fleet.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

  set(CPACK_GENERATOR DEB)
  set(CPACK_SET_DESTDIR ON)  # /etc is not below the prefix
  set(CPACK_PACKAGE_NAME orthanc-perf)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Performance plugin for the Orthanc DICOM server")
  set(CPACK_PACKAGE_DESCRIPTION_FILE ${DEBIAN}/description.txt)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_RELEASE ${PERF_DEB_RELEASE})
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "orthanc (>= 1.10.1), python3 (>= 3.11)")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "haproxy, prometheus")
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${DEBIAN}/conffiles ${DEBIAN}/triggers)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  include(CPack)
endif()
