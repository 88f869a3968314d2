#include "inference/edge_beliefs.h"

#include <algorithm>
#include <numeric>

#include "core/parallel.h"
#include "core/sum_in_parts.h"

namespace {

// Calls work(edge, beliefs) with the joint beliefs of edges from begin to end.
template <typename Work>
void each_pair(const PairwiseField& field, const std::vector<EdgePotentials>& tables, const Matrix<double>& marginals,
               const double* messages, std::span<const uint8_t> on_loop, std::span<const int32_t> edges, Work work) {
    PairBeliefs beliefs(field.n_labels());
    for (const int32_t e : edges) {
        const double* own = messages + 2 * static_cast<size_t>(e) * field.n_labels();
        beliefs.fill(tables[2 * static_cast<size_t>(field.table[e]) + on_loop[e]], marginals.row(field.left[e]),
                     marginals.row(field.right[e]), own + field.n_labels(), own);
        work(e, beliefs);
    }
}

}  // namespace

std::vector<double> edge_marginals(const PairwiseField& field, const Matrix<double>& marginals, const Array<double>& messages,
                                   std::span<const uint8_t> on_loop, std::span<const int32_t> edges, size_t threads) {
    const size_t cells = field.n_labels() * field.n_labels(), parts = useful_threads(threads, edges.size());
    const std::vector<EdgePotentials> tables = potentials_of(field, field.n_labels());
    std::vector<double> found(edges.size() * cells);
    in_parallel(parts, [&](size_t part) {
        const size_t begin = edges.size() * part / parts, end = edges.size() * (part + 1) / parts;
        double* to = found.data() + begin * cells;
        each_pair(field, tables, marginals, messages.data(), on_loop, edges.subspan(begin, end - begin),
                  [&](int32_t, const PairBeliefs& beliefs) {
                      for (const double pair : beliefs.pairs()) *to++ = pair / beliefs.sum();
                  });
    });
    return found;
}

std::vector<double> edge_sums(const PairwiseField& field, const Matrix<double>& marginals, const Array<double>& messages,
                              std::span<const uint8_t> on_loop, std::span<const double> weights, size_t threads) {
    const size_t cells = field.n_labels() * field.n_labels();
    const std::vector<EdgePotentials> tables = potentials_of(field, field.n_labels());
    std::vector<int32_t> every(field.n_edges());
    std::iota(every.begin(), every.end(), 0);
    std::vector<double> found(field.tables.rows() * cells);
    sum_in_parts(every.size(), found.size(), threads, found.data(), [&](size_t begin, size_t end, double* sums) {
        each_pair(field, tables, marginals, messages.data(), on_loop, std::span(every).subspan(begin, end - begin),
                  [&](int32_t e, const PairBeliefs& beliefs) {
                      double* to = sums + static_cast<size_t>(field.table[e]) * cells;
                      const double scale = weights[e] / beliefs.sum();
                      for (size_t c = 0; c < cells; ++c) to[c] += scale * beliefs.pairs()[c];
                  });
        return 0.0;
    });
    return found;
}
