// SPDX-License-Identifier: MIT
// The doctest program: doctest's own main, natively and as WebAssembly under Node.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
