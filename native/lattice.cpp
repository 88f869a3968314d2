#include "bindings.h"

void bind_lattice(nanobind::module_&) {}
