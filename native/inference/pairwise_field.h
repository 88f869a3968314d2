// A distribution of labels on the nodes of a graph, all nodes with the same labels:
//
//     P(y) = 1 / Z exp( sum over nodes i of node_i(y_i) + sum over edges e = (i, j) of table_e(y_i, y_j) )
//
// Edges share tables, for example one for each type of edge. A score of minus infinity forbids a label or a pair of labels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.h"

struct PairwiseField {
    Matrix<double> nodes;        // (nodes, labels)
    Array<int32_t> left, right;  // of each edge
    Array<int32_t> table;        // of each edge
    Matrix<double> tables;       // (tables, labels * labels), row-major by the label on the left
    Array<double> weights;       // of each table, above 0: see messages.h

    size_t n_nodes() const { return nodes.rows(); }
    size_t n_labels() const { return nodes.columns(); }
    size_t n_edges() const { return left.size(); }
    // Raises std::invalid_argument for indices out of range, edges from a node to itself, and scores that are NaN or infinity.
    void check() const;
};

// The edges of each node, and an order of the nodes in which all but the first node of a component have a neighbour before them.
// The entries of a node are sorted by the rank of the neighbour.
struct FieldGraph {
    // Raises std::invalid_argument for an edge with an end that does not exist, or from a node to itself.
    FieldGraph(size_t n_nodes, std::span<const int32_t> left, std::span<const int32_t> right);

    struct Entry {
        int32_t edge, neighbour;
        int64_t mirror;  // the entry of the same edge at the neighbour
    };
    std::vector<int64_t> offsets;  // of the entries of each node
    std::vector<Entry> entries;
    std::vector<int32_t> order, rank;      // the nodes in order, and the place of each node
    std::vector<int64_t> earlier;          // the first entry of each node whose neighbour comes later
    std::vector<int64_t> component_start;  // places in `order`, with the number of nodes at the end
    std::vector<int32_t> component;        // of each node
    std::vector<uint8_t> tree;             // whether a component has no loop

    size_t n_components() const { return tree.size(); }
};
