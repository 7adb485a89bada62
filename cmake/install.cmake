# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Files that `cmake --install` installs in addition to the program, whose rule is next to its target.
install(DIRECTORY input/decks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${PROJECT_NAME}/decks FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
