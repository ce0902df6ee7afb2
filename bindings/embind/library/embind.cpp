// SPDX-License-Identifier: MIT
// The C++ part of Embind (libembind). Emscripten's own registers every type of the language, strings and values among
// them, and the glue carries the code for each: 4 kB. Calls take a number and give one or none (message.h), so this one
// has four types. Its symbols are Emscripten's; should one be missing, the linker says so.
#include <emscripten/bind.h>

#include <cstdint>
#include <cstdlib>
#include <typeinfo>

namespace {

emscripten::internal::InitFunc* first_table = nullptr;

}  // namespace

extern "C" {

// For messages about types that were never registered, of which there are none. The glue frees the name.
const char* __getTypeName(const std::type_info*) { return static_cast<const char*>(std::calloc(1, 1)); }

// Tables register themselves when the module starts; only threads, which have glue of their own, do it once more.
void _embind_register_bindings(emscripten::internal::InitFunc* table) {
  table->next = first_table;
  first_table = table;
}

void _embind_initialize_bindings() {
  for (const auto* table = first_table; table; table = table->next) table->init_func();
}
}

EMSCRIPTEN_BINDINGS(types) {
  using emscripten::internal::TypeID;
  emscripten::internal::_embind_register_void(TypeID<void>::get(), "void");
  emscripten::internal::_embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  // No call has these two; Emscripten's glue takes parts for granted that come with them.
  emscripten::internal::_embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  emscripten::internal::_embind_register_integer(TypeID<int>::get(), "int", sizeof(int), INT32_MIN, INT32_MAX);
}
