# SPDX-License-Identifier: MIT
# The WebAssembly modules of the npm package: the SIMD build that everybody gets (poslab.js, poslab.wasm, poslab.d.ts),
# the same with the classic schemes only (poslab-classic.wasm) for who counts kilobytes, that without the lab
# (poslab-attention.wasm) for who wants attention and nothing else,
# the relaxed-SIMD build that a caller has to ask for (poslab-relaxed.js, poslab-relaxed.wasm), and the SIMD build that
# also runs whole architectures (poslab-models.js, poslab-models.wasm, poslab-models.d.ts), for who opens a checkpoint.

set(POSLAB_EMBIND "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind.cpp")
set(POSLAB_EMBIND_LAB "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind_lab.cpp")
set(POSLAB_EMBIND_MODELS "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind_models.cpp")
set(POSLAB_CLASSIC_SCHEMES "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind/classic/schemes.cpp")
file(GLOB POSLAB_EMBIND_PARTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind/*.cpp")
if(NOT EXISTS "${POSLAB_EMBIND}")
  message(WARNING "bindings/embind.cpp is missing: the module is not built")
  return()
endif()

# The rest of the arguments are sources.
function(poslab_add_module target core file_name)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file_name} SUFFIX .js)
  set_property(TARGET ${target} PROPERTY RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/module")
  target_link_libraries(${target} PRIVATE ${core} poslab_flags embind)
  target_compile_options(${target} PRIVATE -fno-exceptions -Oz)
  target_link_options(
    ${target}
    PRIVATE
      # Binaryen makes the module as a whole small, and the glue is minified; loops keep what the compiler made of them.
      -Oz
      # A function with one caller goes into it only when it is small: long functions have many locals, which gzip
      # cannot make small. More bytes, and 2 kB less of them after gzip.
      -sBINARYEN_EXTRA_PASSES=--one-caller-inline-max-function-size=40
      # No exception support at all: 14 kB instead of 95 kB for a minimal module.
      -fno-exceptions
      # A function that makes instances, as an ES module: bundlers, browsers, workers and Node take it as it is.
      -sMODULARIZE
      -sEXPORT_ES6
      -sEXPORT_NAME=createPosLabCore
      # No `new Function`: the page's Content-Security-Policy forbids it.
      -sDYNAMIC_EXECUTION=0
      # Starts small (a table of positions needs little) and grows as far as 32 bits reach.
      -sINITIAL_MEMORY=4MB
      -sALLOW_MEMORY_GROWTH
      # Every engine with SIMD has BigInt: no second function for each that takes 64-bit integers.
      -sWASM_BIGINT
      -sMAXIMUM_MEMORY=4GB
      # Memory that cannot be had is a null pointer that the core reports, not the end of the module.
      -sABORTING_MALLOC=0
      # Kernels keep their tiles on the stack.
      -sSTACK_SIZE=1MB
      # The core opens no files.
      -sFILESYSTEM=0
      # Every engine with SIMD has TextDecoder: leave its substitute out.
      -sTEXTDECODER=2
      # Arrays are copied in and out by the calls themselves; the size of the memory is for those who watch it.
      -sEXPORTED_RUNTIME_METHODS=HEAPU8
  )
endfunction()

# Embind's C++ library with no more types than calls have; -L lets the linker find it before Emscripten's own.
set(POSLAB_EMBIND_OPTIONS -fno-exceptions -fno-rtti -Oz -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
set(POSLAB_EMBIND_FOLDER "${CMAKE_CURRENT_BINARY_DIR}/embind")
add_library(poslab_embind STATIC "${CMAKE_CURRENT_SOURCE_DIR}/bindings/embind/library/embind.cpp")
set_target_properties(
  poslab_embind
  PROPERTIES OUTPUT_NAME embind ARCHIVE_OUTPUT_DIRECTORY "${POSLAB_EMBIND_FOLDER}"
)
target_link_libraries(poslab_embind PRIVATE poslab_flags)
target_compile_options(poslab_embind PRIVATE ${POSLAB_EMBIND_OPTIONS})

# A module of the package.
function(poslab_add_package_module target core file_name)
  poslab_add_module(${target} ${core} ${file_name} "${POSLAB_EMBIND}" ${POSLAB_EMBIND_PARTS} ${ARGN})
  add_dependencies(${target} poslab_embind)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${POSLAB_EMBIND_FOLDER}/libembind.a")
  target_compile_options(${target} PRIVATE ${POSLAB_EMBIND_OPTIONS})
  target_link_options(
    ${target}
    PRIVATE
      -fno-rtti
      "-L${POSLAB_EMBIND_FOLDER}"
      # The typed layer fetches and compiles (js/wasm-module.ts): the glue loads nothing, so it is the same everywhere and
      # needs nothing of Node. What it may be given before the start is how to instantiate, and whom errors go to.
      -sENVIRONMENT=web
      -sINCOMING_MODULE_JS_API=instantiateWasm,printErr
  )
endfunction()

poslab_add_package_module(poslab_wasm poslab poslab "${POSLAB_EMBIND_LAB}")

# The same with the ten classic schemes, and attention alone with them. Their glue is that of the module with all
# (build.mjs makes sure of it).
poslab_add_package_module(poslab_wasm_classic poslab poslab-classic "${POSLAB_EMBIND_LAB}" "${POSLAB_CLASSIC_SCHEMES}")
poslab_add_package_module(poslab_wasm_attention poslab poslab-attention "${POSLAB_CLASSIC_SCHEMES}")

# Declarations come from the SIMD build: Node 20 cannot start a relaxed one, and their interface is the same.
# Emscripten calls `tsc` for it: bindings/toolchain/build.mjs puts the project's own on the PATH.
target_link_options(poslab_wasm PRIVATE "SHELL:--emit-tsd poslab.d.ts")

# What makes a target a relaxed-SIMD one.
function(poslab_relax target)
  target_compile_options(${target} PRIVATE -mrelaxed-simd)
  target_compile_definitions(${target} PRIVATE POSLAB_RELAXED_SIMD)
endfunction()

poslab_add_package_module(poslab_wasm_models poslab poslab-models "${POSLAB_EMBIND_LAB}" "${POSLAB_EMBIND_MODELS}")
target_link_options(poslab_wasm_models PRIVATE "SHELL:--emit-tsd poslab-models.d.ts")

poslab_add_core(poslab_relaxed)
poslab_relax(poslab_relaxed)
poslab_add_package_module(poslab_wasm_relaxed poslab_relaxed poslab-relaxed "${POSLAB_EMBIND_LAB}")
poslab_relax(poslab_wasm_relaxed)
target_link_options(poslab_wasm_relaxed PRIVATE -mrelaxed-simd)

# The same two with the workloads of tests/bench, whose inputs stay in the module's memory.
if(POSLAB_BENCH)
  set(POSLAB_WORKLOADS "${POSLAB_BENCH_FOLDER}/module.cpp" ${POSLAB_BENCH_SOURCES})
  poslab_add_module(poslab_bench_wasm poslab bench ${POSLAB_WORKLOADS})
  poslab_add_module(poslab_bench_wasm_relaxed poslab_relaxed bench-relaxed ${POSLAB_WORKLOADS})
  poslab_relax(poslab_bench_wasm_relaxed)
  target_link_options(poslab_bench_wasm_relaxed PRIVATE -mrelaxed-simd)
  foreach(target IN ITEMS poslab_bench_wasm poslab_bench_wasm_relaxed)
    # A benchmark is loaded by its glue, in Node and in Chromium.
    target_link_options(${target} PRIVATE -sENVIRONMENT=web,worker,node)
    # The loops that measure the limit count as kernels.
    target_compile_options(${target} PRIVATE -O2)
    target_link_options(
      ${target}
      PRIVATE
        # Memory grows page by page from little more than the stack, so that its size is what was needed.
        -sINITIAL_MEMORY=1245184
        -sMEMORY_GROWTH_LINEAR_STEP=65536
    )
  endforeach()
endif()
