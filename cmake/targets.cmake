# meguri_library, meguri_program and meguri_python_test: what a folder of the repository becomes.

if(GTest_FOUND)
  include(GoogleTest)
endif()

# What hundreds of files include is compiled once for libraries and once for tests. With Clang both
# must have the same definitions as base. tools/lint and the tsan preset do without, and so find
# what a file has forgotten to include.
function(meguri_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;HEADERS;OPTIONS")
  set(source "${CMAKE_BINARY_DIR}/precompiled_${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Its target is there for a precompiled header.\n")
  add_library(precompiled_${name} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(precompiled_${name} PRIVATE fmt::fmt spdlog::spdlog ${arg_LINK})
  target_compile_options(precompiled_${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(precompiled_${name} PRIVATE
    <algorithm> <array> <cstddef> <cstdint> <functional> <map> <memory> <optional> <string>
    <string_view> <utility> <vector> <fmt/format.h> ${arg_HEADERS})
endfunction()

# Tests need not be as fast as what they test. Lines are enough to find a failure.
set(test_options $<$<CONFIG:RelWithDebInfo>:-O1> $<$<CONFIG:RelWithDebInfo>:-g1>)
if(MEGURI_PRECOMPILE)
  meguri_precompile(library)
  if(GTest_FOUND)
    meguri_precompile(test LINK GTest::gtest HEADERS <gtest/gtest.h> OPTIONS ${test_options})
  endif()
endif()

# meguri_library(NAME [DEPENDS ours...] [LINK third-party...])
#
# Makes the library meguri_NAME of the folder src/NAME, or of the top-level folder NAME, and beside
# it the program NAME_test of its *_test.cc, and one program for each *_fuzz.cc. In the fuzz preset
# that program fuzzes; elsewhere it runs over what src/NAME/corpus/X_fuzz holds, as a test.
# Includes are written "NAME/file.h". main.cc belongs to a meguri_program, *_plugin.cc to a module.
function(meguri_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  set(root "${CMAKE_SOURCE_DIR}/src")
  if(NOT IS_DIRECTORY "${root}/${name}")
    set(root "${CMAKE_SOURCE_DIR}")
  endif()

  file(GLOB headers CONFIGURE_DEPENDS "${root}/${name}/*.h")
  file(GLOB sources CONFIGURE_DEPENDS "${root}/${name}/*.cc")
  file(GLOB tests CONFIGURE_DEPENDS "${root}/${name}/*_test.cc")
  file(GLOB fuzzers CONFIGURE_DEPENDS "${root}/${name}/*_fuzz.cc")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_bench|_plugin|/main)\\.cc$")

  list(TRANSFORM arg_DEPENDS PREPEND "meguri_")
  if(sources)
    set(scope PUBLIC)
    add_library(meguri_${name} STATIC ${sources})
    if(MEGURI_PRECOMPILE)
      target_precompile_headers(meguri_${name} REUSE_FROM precompiled_library)
    endif()
  else()
    set(scope INTERFACE)
    add_library(meguri_${name} INTERFACE)
  endif()
  # One target compiles every header alone that no source of its name begins with.
  set(alone "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.h$" ".cc" source "${header}")
    if(NOT EXISTS "${source}")
      list(APPEND alone "${header}")
    endif()
  endforeach()
  target_sources(meguri_${name} ${scope} FILE_SET HEADERS BASE_DIRS "${root}" FILES ${alone})
  target_include_directories(meguri_${name} ${scope} "${root}")
  target_link_libraries(meguri_${name} ${scope} ${arg_DEPENDS} ${arg_LINK})
  set_target_properties(meguri_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

  # The thread sanitizer has nothing to find in tests of one thread.
  if(MEGURI_SANITIZE STREQUAL "thread")
    foreach(test IN LISTS tests)
      file(STRINGS "${test}" threads REGEX "Threads" LIMIT_COUNT 1)
      if(NOT threads)
        list(REMOVE_ITEM tests "${test}")
      endif()
    endforeach()
  endif()

  if(tests AND GTest_FOUND AND NOT MEGURI_FUZZ)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE meguri_${name} GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${test_options})
    if(MEGURI_PRECOMPILE)
      target_precompile_headers(${name}_test REUSE_FROM precompiled_test)
    endif()
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                  "${CMAKE_BINARY_DIR}/tests")
    gtest_discover_tests(${name}_test
      TEST_PREFIX "${name}."
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      NO_PRETTY_VALUES)
  endif()

  foreach(source IN LISTS fuzzers)
    get_filename_component(fuzzer "${source}" NAME_WE)
    meguri_fuzzer(${name} ${fuzzer} "${source}" "${root}/${name}/corpus/${fuzzer}")
  endforeach()
endfunction()

add_custom_target(fuzzers)
if(NOT MEGURI_FUZZ)
  add_library(replay_corpus OBJECT EXCLUDE_FROM_ALL
              "${CMAKE_SOURCE_DIR}/tools/replay_corpus.cc")
endif()

# meguri_fuzzer(LIBRARY NAME SOURCE CORPUS)
function(meguri_fuzzer library name source corpus)
  if(NOT MEGURI_FUZZ AND NOT GTest_FOUND)
    return()
  endif()
  set(target ${library}_${name})
  add_executable(${target} "${source}")
  target_link_libraries(${target} PRIVATE meguri_${library})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             "${CMAKE_BINARY_DIR}/fuzzers")
  if(MEGURI_FUZZ)
    add_dependencies(fuzzers ${target})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${library}.LongFuzz.${name}
             COMMAND "${CMAKE_SOURCE_DIR}/tools/fuzz" $<TARGET_FILE:${target}> "${corpus}")
  else()
    target_link_libraries(${target} PRIVATE replay_corpus)
    target_compile_options(${target} PRIVATE ${test_options})
    add_test(NAME ${library}.Corpus.${name} COMMAND ${target} "${corpus}")
  endif()
endfunction()

# meguri_program(NAME SOURCE DEPENDS ours...)
#
# mimalloc comes first, so that all of the program takes memory from it; sanitizers have their own.
function(meguri_program name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEPENDS")
  list(TRANSFORM arg_DEPENDS PREPEND "meguri_")
  add_executable(${name} "${CMAKE_SOURCE_DIR}/${source}")
  if(NOT MEGURI_SANITIZE)
    target_compile_definitions(${name} PRIVATE MEGURI_MIMALLOC)
    target_link_libraries(${name} PRIVATE "${MIMALLOC}")
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
endfunction()

# meguri_python_test(NAME FILE): one test for each test method of a unittest file.
function(meguri_python_test name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${file}")
  file(STRINGS "${CMAKE_SOURCE_DIR}/${file}" lines REGEX "^class |^    def test_")
  foreach(line IN LISTS lines)
    if(line MATCHES "^class ([A-Za-z0-9_]+)")
      set(class "${CMAKE_MATCH_1}")
    elseif(line MATCHES "def (test_[A-Za-z0-9_]+)")
      set(test "${name}.${class}.${CMAKE_MATCH_1}")
      add_test(NAME "${test}"
               COMMAND "${PYTHON3}" -B "${file}" "${class}.${CMAKE_MATCH_1}"
               WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
      set_tests_properties("${test}" PROPERTIES
        SKIP_REGULAR_EXPRESSION "OK \\(skipped="
        ENVIRONMENT "MEGURI_BINARY_DIR=${CMAKE_BINARY_DIR}")
    endif()
  endforeach()
endfunction()
