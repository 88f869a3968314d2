#include "bindings.h"

void bind_reader(nanobind::module_&) {}
