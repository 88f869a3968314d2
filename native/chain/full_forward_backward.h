// Forward-backward over sentences in which every position has all K labels. See forward_backward.cpp for the equations.
//
// The potentials of the edges to a token depend on the list of its edge features only. A text has few different lists, so the
// potentials of each are kept between sentences.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/lattice.h"
#include "core/strings.h"

class FullForwardBackward {
   public:
    // Whether a sentence has this form, with first-order edges in a dense table.
    static bool fits(const SentenceLattice& s, const Edges& edges);
    // The same as ForwardBackward::run, with log Z in log_z. False if scores are not finite, or a sum is too small for scaled
    // products. All sentences must have the same edges.
    bool run(const SentenceLattice& s, const Edges& edges, double& log_z, float* marginals, float* pairs);

   private:
    double set_potentials(const SentenceLattice& s, const Edges& edges);
    size_t block_of(const SentenceLattice& s, const Edges& edges, size_t j);
    // The potentials of a block, k to l and transposed.
    const double* forward(size_t block) const { return blocks_.data() + 2 * block * size_; }
    const double* backward(size_t block) const { return blocks_.data() + (2 * block + 1) * size_; }

    size_t stride_ = 0, size_ = 0;       // of a row and of a block
    Interner lists_;                     // the bytes of the lists of edge features
    std::vector<double> blocks_, tops_;  // by list: two blocks of potentials, and the largest score
    std::vector<size_t> block_;          // of each position
    std::vector<double> start_, end_, node_, alpha_, beta_, scale_;
    std::vector<float> scores_;
};
