// Where the weights of a chain model stand in one array: those of label pairs T, of edge features U, of node features W and
// of label triples S, one kind after the other.
#pragma once
#include <cstddef>

struct WeightLayout {
    size_t pairs = 0, edges = 0, nodes = 0, triples = 0;  // how many of each

    size_t edge(size_t slot) const { return pairs + slot; }
    size_t node(size_t slot) const { return pairs + edges + slot; }
    size_t triple(size_t slot) const { return pairs + edges + nodes + slot; }
    size_t size() const { return triple(triples); }
};
