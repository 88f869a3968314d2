// The extension module corate._native: kernels with arrays as input and output. Each file binds a room of the core.
#include <nanobind/nanobind.h>

#include "bindings/bindings.h"

NB_MODULE(_native, m) {
    nanobind::set_leak_warnings(false);  // Python may keep some objects until it exits
    m.doc() = "Native kernels of corate. This module is private; use the corate package.";
    bind_core(m);
    bind_text(m);
    bind_features(m);
    bind_counting(m);
    bind_clustering(m);
    bind_training(m);
    bind_chain(m);
    bind_decoding(m);
    bind_expectations(m);
    bind_graphs(m);
    bind_inference(m);
}
