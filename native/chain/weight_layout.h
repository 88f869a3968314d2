// The order of a chain model's weights in one array: label pairs T, edge features U, node features W, label triples S.
#pragma once
#include <cstddef>

struct WeightLayout {
    size_t pairs = 0, edges = 0, nodes = 0, triples = 0;  // the number of each

    size_t edge(size_t slot) const { return pairs + slot; }
    size_t node(size_t slot) const { return pairs + edges + slot; }
    size_t triple(size_t slot) const { return pairs + edges + nodes + slot; }
    size_t size() const { return triple(triples); }
};
