# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays out beside the program (whose own rule stands where it is defined).
install(DIRECTORY input/decks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/decks FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
