# Language, warnings, sanitizers, linker and compiler cache, for every target of ours.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

set(MEGURI_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=")
option(MEGURI_FUZZ "Build the fuzzers (*_fuzz.cc); needs Clang" OFF)
option(MEGURI_PRECOMPILE "Compile the headers that most sources include once for all of them" ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                    -Woverloaded-virtual -Wimplicit-fallthrough -Wcast-qual)
# Some libraries ask for it; a precompiled header serves only what is compiled the same way.
add_compile_options(-pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety)
else()
  # GCC 12 reports correct uses of std::string and std::variant with these, when it inlines them.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow
                      -Wno-stringop-overread -Wno-array-bounds)
endif()

# Messages name files from the root of the repository, wherever it stands.
add_compile_options("-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")

if(MEGURI_SANITIZE)
  add_compile_options(-fsanitize=${MEGURI_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MEGURI_SANITIZE})
endif()
if(MEGURI_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Two clones of the repository share what was compiled: paths below their roots do not count. A
# precompiled header counts for what is in it, not for when it was made.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${CCACHE}")
endif()
mark_as_advanced(CCACHE)

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
mark_as_advanced(MOLD)
