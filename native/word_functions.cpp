#include "bindings.h"

void bind_word_functions(nanobind::module_&) {}
