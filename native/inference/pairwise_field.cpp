#include "inference/pairwise_field.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace {

void check_edges(size_t n, std::span<const int32_t> left, std::span<const int32_t> right) {
    for (size_t e = 0; e < left.size(); ++e) {
        for (const int32_t i : {left[e], right[e]})
            if (i < 0 || static_cast<size_t>(i) >= n) throw std::invalid_argument("an edge has an unknown end");
        if (left[e] == right[e]) throw std::invalid_argument("an edge joins a node to itself");
    }
}

}  // namespace

void PairwiseField::check() const {
    const size_t k = n_labels(), m = n_edges();
    if (k == 0) throw std::invalid_argument("a node needs at least one label");
    if (n_nodes() > static_cast<size_t>(INT32_MAX) || m > static_cast<size_t>(INT32_MAX))
        throw std::invalid_argument("a graph has at most 2,147,483,647 nodes and edges");
    if (right.size() != m || table.size() != m)
        throw std::invalid_argument("the ends and the tables of edges disagree in number");
    if (tables.columns() != k * k) throw std::invalid_argument("a table needs a score for each pair of labels");
    if (weights.size() != tables.rows()) throw std::invalid_argument("tables and weights disagree in number");
    for (const double weight : weights)
        if (!(weight > 0.0 && weight <= 1.0)) throw std::invalid_argument("a weight is not above 0 and at most 1");
    check_edges(n_nodes(), left, right);
    for (const int32_t t : table)
        if (t < 0 || static_cast<size_t>(t) >= tables.rows()) throw std::invalid_argument("an edge has an unknown table");
    const auto check_scores = [](const Matrix<double>& scores) {
        for (size_t i = 0; i < scores.rows() * scores.columns(); ++i)
            if (!(scores.row(0)[i] < INFINITY)) throw std::invalid_argument("a score is NaN or infinity");
    };
    check_scores(nodes);
    check_scores(tables);
}

FieldGraph::FieldGraph(size_t n, std::span<const int32_t> left, std::span<const int32_t> right) {
    const size_t m = left.size();
    if (right.size() != m) throw std::invalid_argument("the ends of edges disagree in number");
    check_edges(n, left, right);
    offsets.assign(n + 1, 0);
    for (size_t e = 0; e < m; ++e) ++offsets[left[e] + 1], ++offsets[right[e] + 1];
    for (size_t i = 0; i < n; ++i) offsets[i + 1] += offsets[i];
    entries.resize(2 * m);
    std::vector<int64_t> next(offsets.begin(), offsets.end() - 1);
    for (size_t e = 0; e < m; ++e) {
        const int32_t a = left[e], b = right[e];
        entries[next[a]++] = {static_cast<int32_t>(e), b, 0};
        entries[next[b]++] = {static_cast<int32_t>(e), a, 0};
    }
    // Breadth first, from the first node of each component.
    rank.assign(n, -1);
    component.assign(n, -1);
    order.reserve(n);
    for (size_t first = 0; first < n; ++first) {
        if (component[first] >= 0) continue;
        const auto own = static_cast<int32_t>(tree.size());
        const size_t start = order.size();
        component_start.push_back(static_cast<int64_t>(start));
        component[first] = own;
        order.push_back(static_cast<int32_t>(first));
        int64_t ends = 0;
        for (size_t at = start; at < order.size(); ++at) {
            const int32_t i = order[at];
            rank[i] = static_cast<int32_t>(at);
            ends += offsets[i + 1] - offsets[i];
            for (int64_t p = offsets[i]; p < offsets[i + 1]; ++p)
                if (int32_t& other = component[entries[p].neighbour]; other < 0) {
                    other = own;
                    order.push_back(entries[p].neighbour);
                }
        }
        tree.push_back(ends / 2 + 1 == static_cast<int64_t>(order.size() - start));
    }
    component_start.push_back(static_cast<int64_t>(n));
    // Visiting the neighbours in order sorts the entries of each node.
    const std::vector<Entry> unsorted = std::move(entries);
    entries.resize(unsorted.size());
    next.assign(offsets.begin(), offsets.end() - 1);
    earlier.resize(n);
    std::vector<int64_t> first_place(m, -1);
    for (const int32_t i : order) {
        earlier[i] = next[i];
        for (int64_t p = offsets[i]; p < offsets[i + 1]; ++p) {
            const Entry& entry = unsorted[p];
            const int64_t place = next[entry.neighbour]++;
            int64_t& other = first_place[entry.edge];
            entries[place] = {entry.edge, i, other};
            if (other >= 0) entries[other].mirror = place;
            other = place;
        }
    }
}
