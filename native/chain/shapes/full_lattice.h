// Lattices in which every position has all K labels, in float64. The sums are those of full_group.h, for one sentence.
//
// The potentials of the edges to a token depend on the list of its edge features only. A text has few different lists, so the
// potentials of each are kept between sentences.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/lattice.h"
#include "chain/shapes/full_group.h"
#include "core/strings.h"

constexpr size_t kMostPotentials = 4'000'000;  // of the edges of a sentence

class FullLattice {
   public:
    // Whether a sentence has this form, with first-order edges in a dense table.
    static bool fits(const SentenceLattice& s, const Edges& edges);
    // The same as ForwardBackward::run, with log Z in log_z. False if scores exceed the range of products. All sentences must have
    // the same edges.
    bool run(const SentenceLattice& s, const Edges& edges, double& log_z, float* marginals, float* pairs);

   private:
    size_t block_of(const SentenceLattice& s, const Edges& edges, size_t j);
    double boundary(const SentenceLattice& s, const Edges& edges, size_t j, std::vector<double>& potentials);

    FullGroup<double> group_;
    std::vector<size_t> lengths_;
    Interner lists_;                     // the bytes of the lists of edge features
    std::vector<double> blocks_, tops_;  // by list: two blocks of potentials, and the largest score
    std::vector<size_t> which_;          // list, by position
    std::vector<double> start_, end_;
    std::vector<float> scores_;
};
