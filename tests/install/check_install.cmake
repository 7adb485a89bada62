# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
# Installs into an empty prefix and uses only the installed files.
set(prefix ${BUILD}/tests/installed)
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(path ${DECKS}/tiny.yaml ${DECKS}/demo.yaml ${DOC}/README.md ${DOC}/LICENSE ${DOC}/CONTRIBUTING.md
        ${DOC}/docs/user/running.md ${DOC}/docs/results/validation.md)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "${path} was not installed")
  endif()
endforeach()

execute_process(COMMAND ${prefix}/${BIN}/bellwether --version OUTPUT_VARIABLE version WORKING_DIRECTORY ${prefix}
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT version MATCHES "${VERSION}")
  message(FATAL_ERROR "the installed program calls itself '${version}', not ${VERSION}")
endif()
execute_process(COMMAND ${prefix}/${BIN}/bellwether check --schema OUTPUT_VARIABLE schema WORKING_DIRECTORY ${prefix}
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT schema MATCHES "optimizer")
  message(FATAL_ERROR "the installed program prints no schema: ${schema}")
endif()
