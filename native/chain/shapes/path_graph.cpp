// See path_graph.h.
#include "chain/shapes/path_graph.h"

#include "core/log_sum.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// The set of blocks after label z follows label y (the boundary at the start), or -1 if a second block of a group would begin.
int32_t blocks_after(const SpanLabels& spans, int32_t n_labels, uint32_t blocks, int32_t y, int32_t z) {
    const int32_t group = spans.group[z];
    if (group < 0 || (y != n_labels && spans.joins(y, z))) return static_cast<int32_t>(blocks);
    const uint32_t bit = 1u << group;
    return blocks & bit ? -1 : static_cast<int32_t>(blocks | bit);
}

}  // namespace

void PathGraph::build(const SentenceLattice& s, const Edges& edges, const PathLimits& limits) {
    layers_.assign(1, 0);
    states_.assign(1, {edges.n_labels, 0, 0, 0});
    arc_offsets_.assign(2, 0);
    arcs_.clear();
    if (s.n == 0) {  // the empty labelling scores 0
        layers_.push_back(1);
        states_.push_back({edges.n_labels, 0, 0, 0});
        arcs_.push_back({0.0, 0});
        arc_offsets_.push_back(1);
        return;
    }
    const bool plain = edges.triples.empty() && limits.blocks.empty();
    for (size_t j = 0; j <= s.n; ++j) plain ? add_plain_layer(s, edges, limits, j) : add_layer(s, edges, limits, j);
}

// Scores of all candidate pairs that end at position j, with the node, into pairs_; those of triples into triples_.
void PathGraph::score_pairs(const SentenceLattice& s, const Edges& edges, size_t j) {
    const size_t m = s.around(j, 1, edges).second, width = s.around(j, 0, edges).second;
    s.raw_edge_block(j, edges, block_);
    pairs_.resize(m * width);
    const float* node = j < s.n ? s.scores + s.offsets[j] : nullptr;
    for (size_t k = 0; k < m; ++k) {
        double* row = pairs_.data() + k * width;
        for (size_t l = 0; l < width; ++l)
            row[l] = static_cast<double>(block_[k * width + l]) + (node == nullptr ? 0.0 : static_cast<double>(node[l]));
        if (!edges.local || node == nullptr) continue;
        const double log_z = log_sum(row, width);
        for (size_t l = 0; l < width; ++l) row[l] -= log_z;
    }
    if (edges.triples.empty()) return;
    triples_.resize(s.around(j, 2, edges).second * m * width);
    s.triple_block(j, edges, triples_.data());
}

// The same as add_layer() where a state is a label. It needs no sorting.
void PathGraph::add_plain_layer(const SentenceLattice& s, const Edges& edges, const PathLimits& limits, size_t j) {
    const auto [to, width] = s.around(j, 0, edges);
    const size_t begin = layers_[j], first = states_.size();
    score_pairs(s, edges, j);
    const uint8_t* allowed = j < s.n && limits.allowed != nullptr ? limits.allowed + s.offsets[j] : nullptr;
    for (size_t l = 0; l < width; ++l) {
        if (allowed != nullptr && !allowed[l]) continue;
        const size_t before = arcs_.size();
        for (size_t u = begin; u < first; ++u) {
            const double value = pairs_[states_[u].candidate * width + l];
            const bool forbidden =
                limits.forbidden != nullptr &&
                limits.forbidden[edges.pairs().at(static_cast<size_t>(states_[u].label), static_cast<size_t>(to[l]))];
            if (!forbidden && value > -INFINITY) arcs_.push_back({value, static_cast<uint32_t>(u)});
        }
        if (arcs_.size() == before) continue;
        states_.push_back({to[l], static_cast<uint32_t>(l), 0, 0});
        arc_offsets_.push_back(arcs_.size());
    }
    layers_.push_back(first);
}

void PathGraph::add_layer(const SentenceLattice& s, const Edges& edges, const PathLimits& limits, size_t j) {
    const bool second = !edges.triples.empty(), inside = j < s.n;
    const size_t m = s.around(j, 1, edges).second;
    const auto [to, width] = s.around(j, 0, edges);
    const size_t n_sets = size_t{1} << limits.n_blocks, first = states_.size();
    score_pairs(s, edges, j);
    index_.assign((second ? m : 1) * width * n_sets, -1);
    found_.resize((first - layers_[j]) * width);
    Found* found = found_.data();
    const uint8_t* allowed = inside && limits.allowed != nullptr ? limits.allowed + s.offsets[j] : nullptr;
    const size_t begin = layers_[j];
    for (size_t u = begin; u < first; ++u) {
        const State from = states_[u];
        const double* score = pairs_.data() + from.candidate * width;
        const double* triple = second ? triples_.data() + (from.before * m + from.candidate) * width : nullptr;
        const uint8_t* forbidden =
            limits.forbidden == nullptr ? nullptr : limits.forbidden + edges.pairs().row(static_cast<size_t>(from.label));
        for (size_t l = 0; l < width; ++l) {
            if ((allowed != nullptr && !allowed[l]) || (forbidden != nullptr && forbidden[to[l]])) continue;
            const double value = score[l] + (second ? triple[l] : 0.0);
            if (!(value > -INFINITY)) continue;
            int32_t blocks = 0;
            if (inside && !limits.blocks.empty()) {
                blocks = blocks_after(limits.blocks, edges.n_labels, from.blocks, from.label, to[l]);
                if (blocks < 0) continue;
            }
            const State state{to[l], static_cast<uint32_t>(l), second && inside ? from.candidate : 0u,
                              static_cast<uint32_t>(blocks)};
            *found++ = {value, static_cast<uint32_t>(u), target(state, width, n_sets)};
        }
    }
    found_.resize(static_cast<size_t>(found - found_.data()));
    sort_arcs(first);
    layers_.push_back(first);
}

uint32_t PathGraph::target(const State& state, size_t width, size_t n_sets) {
    int32_t& place = index_[(state.before * width + state.candidate) * n_sets + state.blocks];
    if (place < 0) {
        place = static_cast<int32_t>(states_.size());
        states_.push_back(state);
    }
    return static_cast<uint32_t>(place);
}

// Appends the arcs that were found, by the state they lead to. The order of the arcs of one state is kept.
void PathGraph::sort_arcs(size_t first) {
    const size_t n = states_.size() - first, before = arcs_.size();
    arc_offsets_.resize(first + 1 + n, 0);
    for (const Found& f : found_) ++arc_offsets_[f.to + 1];
    for (size_t v = first; v < states_.size(); ++v) arc_offsets_[v + 1] += arc_offsets_[v];
    arcs_.resize(before + found_.size());
    next_.assign(arc_offsets_.begin() + static_cast<std::ptrdiff_t>(first), arc_offsets_.end());
    for (const Found& f : found_) arcs_[next_[f.to - first]++] = {f.score, f.from};
}

double PathGraph::sum() {
    if (!has_path()) return -INFINITY;
    alpha_.resize(states_.size());
    shares_.resize(arcs_.size());
    alpha_[0] = 0.0;
    for (size_t v = 1; v < states_.size(); ++v) {
        const size_t a = first_arc(v), b = last_arc(v);
        if (b - a == 1) {
            alpha_[v] = alpha_[arcs_[a].from] + arcs_[a].score;
            shares_[a] = 1.0;
            continue;
        }
        double top = -INFINITY, total = 0.0;
        for (size_t i = a; i < b; ++i) {
            shares_[i] = alpha_[arcs_[i].from] + arcs_[i].score;
            top = std::max(top, shares_[i]);
        }
        for (size_t i = a; i < b; ++i) total += shares_[i] = fast_exp(shares_[i] - top);
        const double scale = 1.0 / total;
        for (size_t i = a; i < b; ++i) shares_[i] *= scale;
        alpha_[v] = top + portable_log(total);
    }
    return alpha_.back();
}
