#include "bindings.h"

void bind_engine(nanobind::module_&) {}
