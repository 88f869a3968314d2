#include "bindings.h"

void bind_feature_map(nanobind::module_&) {}
