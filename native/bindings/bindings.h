// One binding function per room of the core, called once by module.cpp.
#pragma once
#include <nanobind/nanobind.h>

void bind_core(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_counting(nanobind::module_& m);
void bind_clustering(nanobind::module_& m);
void bind_training(nanobind::module_& m);
void bind_chain(nanobind::module_& m);
void bind_decoding(nanobind::module_& m);
void bind_expectations(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
void bind_inference(nanobind::module_& m);
