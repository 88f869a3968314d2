#include "bindings.h"

void bind_counting(nanobind::module_&) {}
