// All labellings of one sentence as an explicit graph, under constraints.
//
// Layer 0 is the start, layer j + 1 has the states of token j, and the last layer is the end. A state is a label. In second-order
// models it is a label and the label before it, and with rules for blocks also the set of blocks so far. So each labelling
// that the constraints allow is one path. The score of an arc to token j is
//
//     node_j(y') + edge_j(y, y') + triple(y'', y, y')  [- log sum_y' exp(node_j(y') + edge_j(y, y')) in models with local edges]
//
// and the score of a path is the score of the labelling (chain/lattice.h). Let alpha(v) be the log of the sum over all paths from
// the start to v. The sums give each arc its share of the paths to its end,
//
//     share(u, v) = exp(alpha(u) + arc(u, v) - alpha(v)) = P(u before v | v)
//
// which is a Markov chain that runs from the end to the start. All probabilities, the entropy and samples follow from the shares.
//
// Why it exists: it answers what arrays cannot, such as n-best labellings, samples, spans and constraints on blocks. Sums alone take
// 7 to 44 times longer than by full_lattice.h.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/lattice.h"

// Runs of labels that form one span: `group` is the type of each label, or -1 if the label is outside of all spans. A label
// that opens never continues a span, and nothing continues a span after a label that closes (see src/corate/spans.py).
struct SpanLabels {
    const int32_t* group = nullptr;
    const uint8_t *opens = nullptr, *closes = nullptr;

    bool empty() const { return group == nullptr; }
    // Whether z belongs to the same span as y directly before it.
    bool joins(int32_t y, int32_t z) const { return group[y] >= 0 && group[y] == group[z] && !opens[z] && !closes[y]; }
};

// Which labellings are allowed. Whatever is null allows all.
struct PathLimits {
    static constexpr int32_t kMostBlocks = 6;

    const uint8_t* allowed = nullptr;    // by candidate of the lattice
    const uint8_t* forbidden = nullptr;  // by label pair, including the boundary
    SpanLabels blocks;                   // at most one span of each group
    int32_t n_blocks = 0;
};

class PathGraph {
   public:
    struct State {
        int32_t label;            // n_labels at the start and at the end
        uint32_t candidate;       // which of its position's candidates the label is
        uint32_t before, blocks;  // the candidate before it, in second-order models; a bit for each block so far
    };
    struct Arc {
        double score;
        uint32_t from;
    };

    // Builds the graph. Work memory is kept between sentences.
    void build(const SentenceLattice& s, const Edges& edges, const PathLimits& limits);
    // Computes the shares of arcs. Returns log Z, minus infinity if there is no path.
    double sum();

    bool has_path() const { return layers_.back() < states_.size(); }
    size_t n_tokens() const { return layers_.size() - 2; }
    size_t n_states() const { return states_.size(); }
    size_t layer(size_t i) const { return i < layers_.size() ? layers_[i] : states_.size(); }  // the first state of a layer
    const State& state(size_t v) const { return states_[v]; }
    size_t end() const { return states_.size() - 1; }
    // The arcs that lead to a state, by ascending state they come from.
    size_t first_arc(size_t v) const { return arc_offsets_[v]; }
    size_t last_arc(size_t v) const { return arc_offsets_[v + 1]; }
    const Arc& arc(size_t a) const { return arcs_[a]; }
    double share(size_t a) const { return shares_[a]; }  // after sum()

   private:
    struct Found {
        double score;
        uint32_t from, to;
    };
    void score_pairs(const SentenceLattice& s, const Edges& edges, size_t j);
    void add_plain_layer(const SentenceLattice& s, const Edges& edges, const PathLimits& limits, size_t j);
    void add_layer(const SentenceLattice& s, const Edges& edges, const PathLimits& limits, size_t j);
    uint32_t target(const State& state, size_t width, size_t n_sets);
    void sort_arcs(size_t first);

    std::vector<size_t> layers_, arc_offsets_;
    std::vector<State> states_;
    std::vector<Arc> arcs_;
    std::vector<double> shares_;
    // Work memory.
    std::vector<float> block_;
    std::vector<double> pairs_, triples_, alpha_;
    std::vector<size_t> next_;
    std::vector<int32_t> index_;
    std::vector<Found> found_;
};
