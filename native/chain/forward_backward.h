// Forward-backward over lattices, with float64 sums: the probabilities of candidate labels. See lattice.h for the score.
#pragma once
#include <cstddef>
#include <vector>

#include "chain/chain.h"
#include "chain/lattice.h"
#include "chain/shapes/full_lattice.h"
#include "chain/shapes/log_space.h"

// Work memory is kept between sentences.
class ForwardBackward {
   public:
    // Returns log Z, and writes P(y_j = label) of each candidate. If pairs is not null, writes P(y_j-1, y_j) of all candidates of
    // positions j - 1 and j, from the second position on. All sentences must have the same edges.
    double run(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs = nullptr);

   private:
    void fill(const SentenceLattice& s, const Edges& edges);

    FullLattice full_;
    Chain<double> chain_;
    std::vector<float> block_;
    LogSums log_;
};
