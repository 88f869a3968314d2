#include "bindings.h"

void bind_ladder(nanobind::module_&) {}
