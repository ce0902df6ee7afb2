// SPDX-License-Identifier: MIT
// A table of calls, and its registration with Embind: every call is a function of the address of its arguments.
#pragma once

#include <emscripten/bind.h>

namespace poslab::border {

struct CallEntry {
  const char* name;  // in JavaScript: "attention", or "Run_advance" for the method of an object
  void (*call)(double message);
};

template <size_t count>
void Register(const CallEntry (&table)[count]) {
  for (const CallEntry& entry : table) emscripten::function(entry.name, entry.call);
}

}  // namespace poslab::border
