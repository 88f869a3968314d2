#include "inference/edge_beliefs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/parallel.h"
#include "core/sum_in_parts.h"

namespace {

// Calls work(edge, beliefs) with the joint beliefs of some edges.
template <typename Work>
void each_pair(const PairwiseField& field, const std::vector<EdgePotentials>& tables, const FieldBeliefs& found,
               std::span<const int32_t> edges, Work work) {
    PairBeliefs beliefs(field.n_labels());
    for (const int32_t e : edges) {
        const double* own = found.messages.data() + 2 * static_cast<size_t>(e) * field.n_labels();
        beliefs.fill(tables[2 * static_cast<size_t>(field.table[e]) + found.on_loop[e]], found.marginals.row(field.left[e]),
                     found.marginals.row(field.right[e]), own + field.n_labels(), own);
        work(e, beliefs);
    }
}

}  // namespace

void check_messages(const PairwiseField& field, std::span<const double> messages) {
    if (messages.size() != 2 * field.n_edges() * field.n_labels()) throw std::invalid_argument("messages and edges disagree");
    for (const double value : messages)
        if (!(value < INFINITY)) throw std::invalid_argument("a message is NaN or infinity");
}

void FieldBeliefs::check(const PairwiseField& field) const {
    field.check();
    check_messages(field, messages);
    if (marginals.rows() != field.n_nodes() || marginals.columns() != field.n_labels())
        throw std::invalid_argument("marginals and nodes disagree");
    if (on_loop.size() != field.n_edges()) throw std::invalid_argument("flags and edges disagree in number");
    for (const uint8_t flag : on_loop)
        if (flag > 1) throw std::invalid_argument("a flag is neither 0 nor 1");
}

std::vector<double> edge_marginals(const PairwiseField& field, const FieldBeliefs& beliefs, std::span<const int32_t> edges,
                                   size_t threads) {
    beliefs.check(field);
    for (const int32_t e : edges)
        if (e < 0 || static_cast<size_t>(e) >= field.n_edges()) throw std::invalid_argument("there is no such edge");
    const size_t cells = field.n_labels() * field.n_labels(), parts = useful_threads(threads, edges.size());
    const std::vector<EdgePotentials> tables = potentials_of(field, field.n_labels());
    std::vector<double> found(edges.size() * cells);
    in_parallel(parts, [&](size_t part) {
        const size_t begin = edges.size() * part / parts, end = edges.size() * (part + 1) / parts;
        double* to = found.data() + begin * cells;
        each_pair(field, tables, beliefs, edges.subspan(begin, end - begin), [&](int32_t, const PairBeliefs& pair) {
            for (const double value : pair.pairs()) *to++ = value / pair.sum();
        });
    });
    return found;
}

std::vector<double> edge_sums(const PairwiseField& field, const FieldBeliefs& beliefs, std::span<const double> weights,
                              size_t threads) {
    beliefs.check(field);
    if (weights.size() != field.n_edges()) throw std::invalid_argument("weights and edges disagree in number");
    const size_t cells = field.n_labels() * field.n_labels();
    const std::vector<EdgePotentials> tables = potentials_of(field, field.n_labels());
    std::vector<int32_t> every(field.n_edges());
    std::iota(every.begin(), every.end(), 0);
    std::vector<double> found(field.tables.rows() * cells);
    sum_in_parts(every.size(), found.size(), threads, found.data(), [&](size_t begin, size_t end, double* sums) {
        each_pair(field, tables, beliefs, std::span(every).subspan(begin, end - begin), [&](int32_t e, const PairBeliefs& pair) {
            double* to = sums + static_cast<size_t>(field.table[e]) * cells;
            const double scale = weights[e] / pair.sum();
            for (size_t c = 0; c < cells; ++c) to[c] += scale * pair.pairs()[c];
        });
        return 0.0;
    });
    return found;
}
