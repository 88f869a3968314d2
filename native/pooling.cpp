#include "bindings.h"

void bind_pooling(nanobind::module_&) {}
