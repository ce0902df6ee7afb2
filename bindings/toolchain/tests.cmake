# SPDX-License-Identifier: MIT
# The doctest program, natively and (under Emscripten) as WebAssembly that runs in Node, and the native benchmarks.
# Every tests/native/*_test.cpp is taken; tests are compiled with exceptions and RTTI, the core is not.

# The paths are written out because Emscripten's toolchain file hides those of the host.
find_path(
  POSLAB_DOCTEST_INCLUDE doctest/doctest.h
  PATHS /usr/include /usr/local/include /opt/homebrew/include
  NO_CMAKE_FIND_ROOT_PATH
)
if(POSLAB_TESTS AND NOT POSLAB_DOCTEST_INCLUDE)
  message(
    FATAL_ERROR
      "PosLab's tests need doctest (doctest/doctest.h was not found).\n"
      "  Debian, Ubuntu:  apt-get install doctest-dev\n"
      "  macOS:           brew install doctest\n"
      "or configure with -DPOSLAB_TESTS=OFF."
  )
endif()

# What a test program needs beyond the core.
function(poslab_use_core target)
  target_link_libraries(${target} PRIVATE poslab poslab_flags)
  if(NOT EMSCRIPTEN)
    # Tests may call kernels that are defined in headers: the same SIMD as the core.
    if(NOT POSLAB_SIMDE_INCLUDE STREQUAL "/usr/include")
      target_include_directories(${target} SYSTEM PRIVATE "${POSLAB_SIMDE_INCLUDE}")
    endif()
    target_compile_definitions(${target} PRIVATE $<$<BOOL:${POSLAB_SIMDE_NO_NATIVE}>:SIMDE_NO_NATIVE>)
  else()
    target_compile_options(${target} PRIVATE -fwasm-exceptions)
    target_link_options(
      ${target}
      PRIVATE
        # doctest reports a failed REQUIRE by throwing.
        -fwasm-exceptions
        -sALLOW_MEMORY_GROWTH
        -sMAXIMUM_MEMORY=4GB
        # What cannot be had is a status, as in the package.
        -sABORTING_MALLOC=0
        -sSTACK_SIZE=1MB
        # The case files are read from disk, and their folder is named by the environment.
        -sNODERAWFS
        -sENVIRONMENT=node
        "SHELL:--pre-js ${CMAKE_CURRENT_SOURCE_DIR}/bindings/toolchain/test-environment.js"
        # The exit status is doctest's.
        -sEXIT_RUNTIME
    )
    # The project's package.json makes every .js below it an ES module, which this output is not.
    set_target_properties(${target} PROPERTIES SUFFIX .cjs)
  endif()
endfunction()

if(POSLAB_TESTS)
  enable_testing()
  # /usr/include itself must not come before Emscripten's own headers: reach doctest through a folder that has nothing else.
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/doctest-include")
  file(CREATE_LINK "${POSLAB_DOCTEST_INCLUDE}/doctest" "${CMAKE_CURRENT_BINARY_DIR}/doctest-include/doctest" SYMBOLIC)

  file(GLOB_RECURSE POSLAB_TEST_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/native/*.cpp")
  list(FILTER POSLAB_TEST_SOURCES INCLUDE REGEX "(_test|/main|_support)\\.cpp$")
  if(POSLAB_TEST_SOURCES)
    add_executable(poslab_tests ${POSLAB_TEST_SOURCES})
    poslab_use_core(poslab_tests)
    target_include_directories(poslab_tests SYSTEM PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/doctest-include")
    target_include_directories(poslab_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests/native")
    # Used when the environment variable POSLAB_CASES names no other folder.
    target_compile_definitions(poslab_tests PRIVATE POSLAB_DEFAULT_CASES="${CMAKE_CURRENT_SOURCE_DIR}/tests/cases")
    if(EMSCRIPTEN)
      target_compile_definitions(poslab_tests PRIVATE DOCTEST_CONFIG_NO_POSIX_SIGNALS)
      add_test(NAME poslab_tests COMMAND node "$<TARGET_FILE:poslab_tests>")
    else()
      find_package(doctest QUIET CONFIG)
      include("${doctest_DIR}/doctest.cmake" OPTIONAL)
      if(COMMAND doctest_discover_tests)
        doctest_discover_tests(poslab_tests)
      else()
        add_test(NAME poslab_tests COMMAND poslab_tests)
      endif()
    endif()
  else()
    message(WARNING "tests/native has no tests: poslab_tests is not built")
  endif()
endif()

if(POSLAB_BENCH)
  # What is measured is one source: a program with Google Benchmark natively, and a module like the package's beside it.
  set(POSLAB_BENCH_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}/tests/bench/kernels")
  set(POSLAB_BENCH_SOURCES limit.cpp training.cpp workloads.cpp)
  list(TRANSFORM POSLAB_BENCH_SOURCES PREPEND "${POSLAB_BENCH_FOLDER}/")
  if(NOT EMSCRIPTEN)
    find_package(benchmark QUIET)
    if(NOT benchmark_FOUND)
      message(
        FATAL_ERROR
          "PosLab's native benchmarks need Google Benchmark, which was not found.\n"
          "  Debian, Ubuntu:  apt-get install libbenchmark-dev\n"
          "  macOS:           brew install google-benchmark\n"
          "or configure with -DPOSLAB_BENCH=OFF."
      )
    endif()
    add_executable(poslab_bench "${POSLAB_BENCH_FOLDER}/native.cpp" ${POSLAB_BENCH_SOURCES})
    poslab_use_core(poslab_bench)
    target_link_libraries(poslab_bench PRIVATE benchmark::benchmark)
  endif()
endif()
