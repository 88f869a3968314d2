// Forward-backward over lattices, with float64 sums.
#pragma once
#include <cstddef>
#include <vector>

#include "chain/chain.h"
#include "chain/full_forward_backward.h"
#include "chain/lattice.h"

// Work memory is kept between sentences.
class ForwardBackward {
   public:
    // Returns log Z. If marginals is not null, writes P(y_j = label) of each candidate. If pairs is not null as well,
    // writes P(y_j-1, y_j) of all candidates of positions j - 1 and j, from the second position on. All sentences must have
    // the same edges.
    double run(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs = nullptr);

   private:
    bool set_potentials(const SentenceLattice& s, const Edges& edges, double& log_z);
    bool run_scaled(const SentenceLattice& s, double& log_z, float* marginals, float* pairs);
    double run_in_logs(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs);
    double run_second(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs);

    FullForwardBackward full_;
    std::vector<double> edge_;     // potentials of edges
    std::vector<size_t> edge_at_;  // where those of each position start
    std::vector<double> alpha_, beta_, node_, scale_, terms_;
    std::vector<float> block_;
    Chain<double> chain_;
};
