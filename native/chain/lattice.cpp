// Viterbi over lattices of candidate labels. See lattice.h for the score.
#include "chain/lattice.h"

namespace {

// alpha_j(y') = node_j(y') + max_y alpha_j-1(y) + edge(y, y'); ties go to the first y.
template <bool Dense>
void step(const Edges& edges, const int32_t* from, const float* alpha, size_t m, const int32_t* to, const float* node,
          size_t width, float* next, int32_t* back) {
    const LabelPairs pairs = edges.pairs();
    for (size_t k = 0; k < m; ++k) {
        const float* row = Dense ? edges.dense.data() + pairs.row(static_cast<size_t>(from[k])) : nullptr;
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

// The same step with a block of edge scores.
void block_step(const float* block, const float* alpha, size_t m, const float* node, size_t width, float* next, int32_t* back) {
    for (size_t l = 0; l < width; ++l) {
        next[l] = alpha[0] + block[l];
        back[l] = 0;
    }
    for (size_t k = 1; k < m; ++k)
        for (size_t l = 0; l < width; ++l) {
            const float value = alpha[k] + block[k * width + l];
            if (value > next[l]) {
                next[l] = value;
                back[l] = static_cast<int32_t>(k);
            }
        }
    for (size_t l = 0; l < width; ++l) next[l] += node[l];
}

// The same step if every position has all K labels in order. It reads rows of edge scores sequentially.
void full_step(const Edges& edges, const float* alpha, const float* node, float* next, int32_t* back) {
    const size_t K = static_cast<size_t>(edges.n_labels);
    std::fill(next, next + K, -INFINITY);
    std::fill(back, back + K, 0);
    for (size_t k = 0; k < K; ++k) {
        const float* row = edges.dense.data() + edges.pairs().row(k);
        const float a = alpha[k];
        for (size_t l = 0; l < K; ++l) {
            const float value = a + row[l];
            const bool better = value > next[l];
            next[l] = better ? value : next[l];
            back[l] = better ? static_cast<int32_t>(k) : back[l];
        }
    }
    for (size_t l = 0; l < K; ++l) next[l] += node[l];
}

// Sums over a long sentence are large and lose digits, so the largest is subtracted from all every so many positions.
constexpr size_t LEVELLED_EVERY = 16;

// Subtracts the largest alpha from all, and returns it.
double level(std::vector<float>& alpha) {
    const float top = *std::max_element(alpha.begin(), alpha.end());
    if (!std::isfinite(top)) return 0.0;
    for (float& value : alpha) value -= top;
    return top;
}

}  // namespace

float Viterbi::decode(const SentenceLattice& s, const Edges& edges, int32_t* best) {
    if (s.n == 0) return 0.0f;
    if (!edges.triples.empty()) return decode_second(s, edges, best);
    const int32_t K = edges.n_labels;
    const int64_t base = s.offsets[0];
    const bool dense = !edges.dense.empty();
    back_.resize(static_cast<size_t>(s.offsets[s.n] - base));
    // alpha_1(y) = start(y) + node_1(y)
    size_t m = static_cast<size_t>(s.offsets[1] - base);
    alpha_.resize(m);
    s.edge_block(0, edges, block_);
    for (size_t k = 0; k < m; ++k) alpha_[k] = block_[k] + s.scores[base + k];
    double subtracted = 0.0;
    for (size_t j = 1; j < s.n; ++j) {
        const int32_t* from = s.labels + s.offsets[j - 1];
        const int32_t* to = s.labels + s.offsets[j];
        const float* node = s.scores + s.offsets[j];
        const size_t width = static_cast<size_t>(s.offsets[j + 1] - s.offsets[j]);
        int32_t* back = back_.data() + (s.offsets[j] - base);
        next_.resize(width);
        if (edges.local || s.extra.any(s.first + static_cast<int64_t>(j))) {
            s.edge_block(j, edges, block_);
            block_step(block_.data(), alpha_.data(), m, node, width, next_.data(), back);
        } else if (dense && m == static_cast<size_t>(K) && width == static_cast<size_t>(K))
            full_step(edges, alpha_.data(), node, next_.data(), back);
        else if (dense)
            step<true>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        else
            step<false>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        alpha_.swap(next_);
        m = width;
        if (j % LEVELLED_EVERY == 0) subtracted += level(alpha_);
    }
    const int32_t* last = s.labels + s.offsets[s.n - 1];
    const bool word_pairs = s.extra.word_pairs.used;
    if (word_pairs) s.edge_block(s.n, edges, block_);
    float top = -INFINITY;
    int32_t arg = 0;
    for (size_t k = 0; k < m; ++k) {
        const float value = alpha_[k] + (word_pairs ? block_[k] : edges.at(last[k], K));
        if (value > top) {
            top = value;
            arg = static_cast<int32_t>(k);
        }
    }
    for (size_t j = s.n; j-- > 0;) {
        best[j] = s.labels[s.offsets[j] + arg];
        if (j > 0) arg = back_[static_cast<size_t>(s.offsets[j] - base) + arg];
    }
    return static_cast<float>(subtracted + top);
}

// alpha_j(k, l) = node_j(l) + edge_j(k, l) + max_h alpha_j-1(h, k) + triple_j(h, k, l); ties go to the first h.
float Viterbi::decode_second(const SentenceLattice& s, const Edges& edges, int32_t* best) {
    const auto width = [&](size_t j, size_t back) { return s.around(j, back, edges).second; };
    places_.assign(1, 0);  // where the pairs that end at each position start
    for (size_t j = 0; j <= s.n; ++j) places_.push_back(places_.back() + width(j, 1) * width(j, 0));
    back_.assign(places_.back(), 0);
    alpha_.assign(1, 0.0f);
    for (size_t j = 0; j <= s.n; ++j) {
        const size_t H = width(j, 2), m = width(j, 1), n = width(j, 0);
        s.edge_block(j, edges, block_);
        triple_.resize(H * m * n);
        s.triple_block(j, edges, triple_.data());
        next_.assign(m * n, -INFINITY);
        const float* x = triple_.data();
        for (size_t h = 0; h < H; ++h) {
            float* next = next_.data();
            int32_t* back = back_.data() + places_[j];
            for (size_t k = 0; k < m; ++k)
                for (size_t l = 0; l < n; ++l, ++x, ++next, ++back) {
                    const float value = alpha_[h * m + k] + *x;
                    if (value > *next) {
                        *next = value;
                        *back = static_cast<int32_t>(h);
                    }
                }
        }
        const float* node = j < s.n ? s.scores + s.offsets[j] : nullptr;
        for (size_t k = 0; k < m; ++k)
            for (size_t l = 0; l < n; ++l) next_[k * n + l] += block_[k * n + l] + (node == nullptr ? 0.0f : node[l]);
        alpha_.swap(next_);
    }
    // The pairs now consist of the last label and the end symbol.
    auto k = static_cast<size_t>(std::max_element(alpha_.begin(), alpha_.end()) - alpha_.begin());
    const float top = alpha_[k];
    size_t l = 0;
    for (size_t j = s.n; j > 0; --j) {
        best[j - 1] = s.labels[s.offsets[j - 1] + static_cast<int64_t>(k)];
        const auto h = static_cast<size_t>(back_[places_[j] + k * width(j, 0) + l]);
        l = k;
        k = h;
    }
    return top;
}
