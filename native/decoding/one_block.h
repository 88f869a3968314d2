// The best labelling with at most one block of each of many groups of labels.
//
// A graph has a bit in its states for each group that it keeps to one block (path_graph.h), so it can do that for few groups.
// Here the graph is built without groups first. If its best path has two blocks of a group, the graph is built again with that
// group, and so on. The first path that keeps to the rule is the best of all: the graph has all paths that keep to it, and more.
// If more groups are needed than a graph can have, its paths are tried from the best on.
#pragma once
#include <cstdint>
#include <vector>

#include "decoding/path_queries.h"

class OneBlockDecoder {
   public:
    // `limits.blocks` has all groups. Whatever the arguments point to must stay.
    OneBlockDecoder(const Edges& edges, const PathLimits& limits);

    // Writes the labels and returns their score: minus infinity if there is no path, NaN if none of the best kMostTried paths
    // keeps to the rule.
    double best(const SentenceLattice& s, int32_t* labels);

   private:
    static constexpr size_t kMostTried = 20'000;

    // Sets repeated_ to the groups with more than one block.
    void find_repeated(const int32_t* labels, size_t n);
    // Makes the graph keep a group to one block.
    void add(int32_t group);

    const Edges& edges_;
    const PathLimits all_;
    PathLimits some_;
    PathGraph graph_;
    std::vector<int32_t> group_;             // by label: the group's number in the graph, or -1
    std::vector<int32_t> repeated_, count_;  // groups, and the number of blocks of each group
};
