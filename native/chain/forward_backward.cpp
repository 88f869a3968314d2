// See forward_backward.h.
//
// A sentence in which all labels are candidates is a full lattice (shapes/full_lattice.h), any other one a chain of candidates
// (shapes/pruned.h). If the range of its scores exceeds float64, or if it has too many pairs, it is summed in log space.
#include "chain/forward_backward.h"

#include "chain/shapes/pruned.h"

namespace {

// A sentence for log_expectations(). Edges are computed block by block without storing them: there may be many labels and long
// sentences.
struct LatticePositions {
    const SentenceLattice& s;
    const Edges& edges_;
    std::vector<float>& block;
    float *marginals, *pairs;  // the places of the last position; pairs may be null

    size_t size() const { return s.n + 1; }
    size_t groups(size_t) const { return 1; }
    size_t width(size_t j) const { return s.around(j, 0, edges_).second; }
    const float* nodes(size_t j) const { return j == s.n ? nullptr : s.scores + s.offsets[j]; }
    const float* edges(size_t j) const {
        s.edge_block(j, edges_, block);
        return block.data();
    }
    void use_edges(size_t j, size_t i, const double* p) {
        if (pairs == nullptr || j == 0 || j == s.n) return;
        if (i == 0) pairs -= s.around(j, 1, edges_).second * width(j);
        std::copy_n(p, width(j), pairs + i * width(j));
    }
    void use_nodes(size_t j, const double* p) const {
        if (j < s.n) std::copy_n(p, width(j), marginals + (s.offsets[j] - s.offsets[0]));
    }
};

size_t n_pairs(const SentenceLattice& s, const Edges& edges, size_t first, size_t last) {
    size_t n = 0;
    for (size_t j = first; j < last; ++j) n += s.around(j, 1, edges).second * s.around(j, 0, edges).second;
    return n;
}

}  // namespace

double ForwardBackward::run(const SentenceLattice& s, const Edges& edges, float* marginals, float* pairs) {
    if (s.n == 0) return 0.0;
    double log_z = NAN;
    if (FullLattice::fits(s, edges)) {
        if (full_.run(s, edges, log_z, marginals, pairs)) return log_z;
    } else if (chain_.second = !edges.triples.empty(); chain_.second || n_pairs(s, edges, 0, s.n + 1) <= kMostPotentials) {
        fill(s, edges);
        log_z = scaled_expectations(chain_);
        if (chain_.second && !std::isfinite(log_z)) {
            fill(s, edges);
            log_z = log_expectations(chain_);
        }
        if (chain_.second || std::isfinite(log_z)) {
            const auto to_float = [](double p) { return static_cast<float>(p); };
            std::transform(chain_.node.begin(), chain_.node.end(), marginals, to_float);
            if (pairs != nullptr) std::transform(chain_.edges(1), chain_.edges(s.n), pairs, to_float);
            return log_z;
        }
    }
    float* end = pairs == nullptr ? nullptr : pairs + n_pairs(s, edges, 1, s.n);
    return log_expectations(LatticePositions{s, edges, block_, marginals, end}, log_);
}

void ForwardBackward::fill(const SentenceLattice& s, const Edges& edges) {
    Chain<double>& c = chain_;
    c.n = s.n;
    c.width.resize(s.n);
    for (size_t j = 0; j < s.n; ++j) c.width[j] = s.around(j, 0, edges).second;
    c.lay_out();
    std::copy(s.scores + s.offsets[0], s.scores + s.offsets[s.n], c.node.begin());
    for (size_t j = 0; j <= s.n; ++j) {
        if (c.second) s.triple_block(j, edges, c.triples(j));
        s.edge_block(j, edges, block_);
        std::copy(block_.begin(), block_.end(), c.edges(j));
    }
}
