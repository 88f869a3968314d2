// Viterbi over lattices of candidate labels. See lattice.h for the score, and shapes/best.h for the equation.
#include "chain/lattice.h"

#include "chain/shapes/best.h"

namespace {

// The step of best_step() from m candidates to `width` candidates, without a block of their edge scores.
template <bool Dense>
void pruned_step(const Edges& edges, const int32_t* from, const float* alpha, size_t m, const int32_t* to, const float* node,
                 size_t width, float* next, int32_t* back) {
    for (size_t k = 0; k < m; ++k) {
        const float* row = Dense ? edges.dense.data() + edges.pairs().row(static_cast<size_t>(from[k])) : nullptr;
        for (size_t l = 0; l < width; ++l) {
            const float value = alpha[k] + (Dense ? row[to[l]] : edges.at(from[k], to[l]));
            if (k == 0 || value > next[l]) {
                next[l] = value;
                back[l] = static_cast<int32_t>(k);
            }
        }
    }
    for (size_t l = 0; l < width; ++l) next[l] += node[l];
}

// Vectors do not pay for fewer labels. For 17 and 50 labels, they are 2.5 and 7 times faster.
constexpr size_t kFew = 6;

}  // namespace

// The end is position n, with one label. In second-order models, a state is a pair of neighbouring labels.
float Viterbi::decode(const SentenceLattice& s, const Edges& edges, int32_t* best) {
    if (s.n == 0) return 0.0f;
    const bool second = !edges.triples.empty(), dense = !edges.dense.empty();
    const auto K = static_cast<size_t>(edges.n_labels);
    places_.clear();  // where the states of each position start
    alpha_.assign(1, 0.0f);
    size_t states = 0;
    double subtracted = 0.0;
    for (size_t j = 0; j <= s.n; ++j) {
        const auto [from, m] = s.around(j, 1, edges);
        const auto [to, width] = s.around(j, 0, edges);
        const float nothing = 0.0f, *node = j < s.n ? s.scores + s.offsets[j] : &nothing;
        places_.push_back(states);
        next_.resize((second ? m : 1) * width);
        states += next_.size();
        if (back_.size() < states) back_.resize(2 * states);
        int32_t* back = back_.data() + places_[j];
        const bool by_token =
            edges.local || s.extra.word_pairs.used || (j < s.n && s.extra.any(s.first + static_cast<int64_t>(j)));
        if (second || by_token) s.edge_block(j, edges, block_);
        if (second) {
            for (size_t i = 0; i < m * width; ++i) block_[i] += node[i % width];
            triple_.resize(s.around(j, 2, edges).second * m * width);
            s.triple_block(j, edges, triple_.data());
            best_step(alpha_.data(), alpha_.size(), triple_.data(), width, m, block_.data(), width, next_.data(), back);
        } else if (by_token) {
            best_step(alpha_.data(), m, block_.data(), width, 1, node, width, next_.data(), back);
        } else if (dense && K > kFew && m == K && width == K && j > 0 && j < s.n) {
            best_step(alpha_.data(), m, edges.dense.data(), K + 1, 1, node, width, next_.data(), back);
        } else if (dense) {
            pruned_step<true>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        } else {
            pruned_step<false>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        }
        alpha_.swap(next_);
        if (j > 0 && j < s.n && j % kLevelledEvery == 0) subtracted += level(alpha_);
    }
    const auto top = std::max_element(alpha_.begin(), alpha_.end());
    auto state = static_cast<size_t>(top - alpha_.begin());
    for (size_t j = s.n; j > 0; --j) {
        state = static_cast<size_t>(back_[places_[j] + state]);
        best[j - 1] = s.labels[s.offsets[j - 1] + static_cast<int64_t>(second ? state % s.around(j, 1, edges).second : state)];
    }
    return static_cast<float>(subtracted + static_cast<double>(*top));
}
