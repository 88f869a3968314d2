// One binding function per kernel file, called once by module.cpp.
#pragma once
#include <nanobind/nanobind.h>

void bind_strings(nanobind::module_& m);
void bind_attributes(nanobind::module_& m);
void bind_reader(nanobind::module_& m);
void bind_word_functions(nanobind::module_& m);
void bind_feature_map(nanobind::module_& m);
void bind_listing(nanobind::module_& m);
void bind_counting(nanobind::module_& m);
void bind_clustering(nanobind::module_& m);
void bind_backoff(nanobind::module_& m);
void bind_pooling(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_maxent(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_long_vectors(nanobind::module_& m);
void bind_chains(nanobind::module_& m);
void bind_lattice(nanobind::module_& m);
void bind_paths(nanobind::module_& m);
void bind_engine(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
void bind_messages(nanobind::module_& m);
