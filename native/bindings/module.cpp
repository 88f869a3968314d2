// The extension module corate._native: kernels with arrays as input and output. Each file binds its own functions.
#include <nanobind/nanobind.h>

#include "bindings/bindings.h"

NB_MODULE(_native, m) {
    nanobind::set_leak_warnings(false);  // Python may keep some objects until it exits
    m.doc() = "Native kernels of corate. This module is private; use the corate package.";
    bind_strings(m);
    bind_attributes(m);
    bind_reader(m);
    bind_word_functions(m);
    bind_feature_map(m);
    bind_listing(m);
    bind_counting(m);
    bind_clustering(m);
    bind_backoff(m);
    bind_pooling(m);
    bind_rows(m);
    bind_maxent(m);
    bind_pairs(m);
    bind_long_vectors(m);
    bind_chains(m);
    bind_lattice(m);
    bind_paths(m);
    bind_engine(m);
    bind_graphs(m);
    bind_messages(m);
}
