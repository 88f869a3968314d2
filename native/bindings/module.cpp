// The extension module corate._native: array-in, array-out kernels. Each file binds its own functions.
#include <nanobind/nanobind.h>

#include "bindings/bindings.h"

NB_MODULE(_native, m) {
    nanobind::set_leak_warnings(false);  // objects that Python itself keeps to its end are no concern of users
    m.doc() = "Native kernels of corate. Private: the public surface is the corate package.";
    bind_strings(m);
    bind_reader(m);
    bind_word_functions(m);
    bind_feature_map(m);
    bind_listing(m);
    bind_counting(m);
    bind_ladder(m);
    bind_pooling(m);
    bind_rows(m);
    bind_maxent(m);
    bind_pairs(m);
    bind_long_vectors(m);
    bind_chains(m);
    bind_lattice(m);
    bind_engine(m);
}
