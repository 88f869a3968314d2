// See full_tiles.h.
#include "chain/shapes/full_tiles.h"

#include <algorithm>
#include <cmath>

#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// If exp T(k, l) is below c, a(k) (exp T(k, l) - c) cancels part of c sum a, but not its rounding error, 2^-24 of c sum a. If
// every exp T(k, l) is at least this share of c, the error is at most 2^-19 of the result. Otherwise label l gets an entry for
// every k, and c is not used.
constexpr float kLeastShare = 1.0f / 32.0f;
// An entry costs about two multiplications of a dense step. The overhead of a dense step is about sixteen labels.
constexpr size_t kEntryCost = 2, kDenseOverhead = 16;

// Compilers without __has_builtin cannot parse a call of it, even after && on the same line.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define CORATE_SHUFFLES
#endif
#endif

// to(j, i) = from(i, j), for i and j below four.
#if defined(CORATE_SHUFFLES)
typedef float Four __attribute__((vector_size(16), aligned(4)));

CORATE_INLINE void transpose_four(const float* from, size_t apart, float* to, size_t to_apart) {
    Four row[4];
    for (size_t i = 0; i < 4; ++i) row[i] = *reinterpret_cast<const Four*>(from + i * apart);
    const Four a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5), b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    const Four c = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7), d = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    *reinterpret_cast<Four*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    *reinterpret_cast<Four*>(to + to_apart) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    *reinterpret_cast<Four*>(to + 2 * to_apart) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    *reinterpret_cast<Four*>(to + 3 * to_apart) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}
#else
CORATE_INLINE void transpose_four(const float* from, size_t apart, float* to, size_t to_apart) {
    for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 4; ++j) to[j * to_apart + i] = from[i * apart + j];
}
#endif

// Turns rows of labels into tiles of potentials. Each sentence is divided by its maximum, whose logarithm goes to `tops`.
template <size_t Bytes>
CORATE_INLINE void potentials_of_rows_by(float* block, size_t labels, size_t stride, float* transposed, float* tops) {
    for (size_t y = 0; y < labels; y += 4)
        for (size_t s = 0; s < kTile; s += 4) transpose_four(block + s * stride + y, stride, transposed + y * kTile + s, kTile);
    auto top = Tile<Bytes>::load(transposed);
    for (size_t y = 1; y < labels; ++y) top.keep_larger(Tile<Bytes>::load(transposed + y * kTile));
    top.store(tops);
    for (size_t y = 0; y < labels; ++y) (Tile<Bytes>::load(transposed + y * kTile) - top).store(block + y * kTile);
    for (size_t i = 0; i < labels * kTile; ++i) block[i] = fast_exp(block[i]);
}

CORATE_FOR_EACH_PROCESSOR
void rows_of_tiles(const float* tiles, size_t labels, size_t stride, float* block) {
    for (size_t y = 0; y < labels; y += 4)
        for (size_t s = 0; s < kTile; s += 4) transpose_four(tiles + y * kTile + s, kTile, block + s * stride + y, stride);
}

template <size_t Bytes>
CORATE_INLINE Tile<Bytes> sum_of(const float* tiles, size_t labels) {
    Tile<Bytes> sum = {};
    for (size_t y = 0; y < labels; ++y) sum += Tile<Bytes>::load(tiles + y * kTile);
    return sum;
}

// The sum over k of the step to label y: see the top of full_tiles.h.
template <size_t Bytes>
CORATE_INLINE Tile<Bytes> step_to(size_t y, const float* common, const int32_t* first, const int32_t* place, const float* more,
                                  const float* from, const Tile<Bytes>& sum) {
    Tile<Bytes> out = common[y] * sum;
    for (int32_t i = first[y]; i < first[y + 1]; ++i) out += more[i] * Tile<Bytes>::load(from + place[i]);
    return out;
}

// to(y) = node(y) times a step from `from`; returns the sums over labels.
template <size_t Bytes>
CORATE_INLINE void step_forward_by(const SparseSteps& steps, const float* from, const float* node, size_t labels, float* to,
                                   float* sums) {
    const auto before = sum_of<Bytes>(from, labels);
    Tile<Bytes> sum = {};
    const float *common = steps.common.data(), *more = steps.more.data();
    const int32_t *first = steps.first.data(), *place = steps.place.data();
    for (size_t y = 0; y < labels; ++y) {
        const auto here = step_to<Bytes>(y, common, first, place, more, from, before) * Tile<Bytes>::load(node + y * kTile);
        here.store(to + y * kTile);
        sum += here;
    }
    sum.store(sums);
}

// What a step back from the tiles `next` reads and writes.
struct BackwardStep {
    const SparseSteps& steps;
    size_t labels;
    const float *next, *end, *ending, *alpha, *node, *scale;
    float *after, *p, *largest;
};

// beta(y) = a step back from `next`, plus end(y) times `ending` for the sentences that end here. p becomes alpha beta, and `after`
// becomes node beta scale. `largest` are the largest betas.
template <size_t Bytes>
CORATE_INLINE void step_backward_by(const BackwardStep& s) {
    const auto last = Tile<Bytes>::load(s.ending), sum = sum_of<Bytes>(s.next, s.labels), scale = Tile<Bytes>::load(s.scale);
    const float *common = s.steps.common.data(), *more = s.steps.more.data();
    const int32_t *first = s.steps.first.data(), *place = s.steps.place.data();
    Tile<Bytes> most = {};
    for (size_t y = 0; y < s.labels; ++y) {
        auto beta = step_to<Bytes>(y, common, first, place, more, s.next, sum);
        beta += s.end[y] * last;
        most.keep_larger(beta);
        (Tile<Bytes>::load(s.node + y * kTile) * beta * scale).store(s.after + y * kTile);
        (Tile<Bytes>::load(s.alpha + y * kTile) * beta).store(s.p + y * kTile);
    }
    most.store(s.largest);
}

// tiles(y) *= factors
template <size_t Bytes>
CORATE_INLINE void scale_tiles_by(float* tiles, size_t labels, const float* factors) {
    const auto f = Tile<Bytes>::load(factors);
    for (size_t y = 0; y < labels; ++y) (Tile<Bytes>::load(tiles + y * kTile) * f).store(tiles + y * kTile);
}

// sums(i) = the sum over positions j and over sentences of x_j(y) z_j(to(i)), where y is the first label of pair i.
template <size_t Bytes>
CORATE_INLINE void pair_sums_by(const float* x, const float* z, size_t positions, size_t labels, const int32_t* first,
                                const int32_t* to, float* sums) {
    const size_t apart = labels * kTile;
    for (size_t y = 0; y < labels; ++y)
        for (int32_t i = first[y]; i < first[y + 1]; i += 4) {
            Tile<Bytes> four[4] = {};
            const float* from = x + y * kTile;
            const float *a = z + to[i], *b = z + to[i + 1], *c = z + to[i + 2], *d = z + to[i + 3];
            for (size_t j = 0; j < positions; ++j) {
                const auto left = Tile<Bytes>::load(from + j * apart);
                four[0] += left * Tile<Bytes>::load(a + j * apart);
                four[1] += left * Tile<Bytes>::load(b + j * apart);
                four[2] += left * Tile<Bytes>::load(c + j * apart);
                four[3] += left * Tile<Bytes>::load(d + j * apart);
            }
            for (size_t k = 0; k < 4; ++k) sums[static_cast<size_t>(i) + k] = four[k].sum();
        }
}

CORATE_BY_WIDTH(potentials_of_rows, (float* block, size_t labels, size_t stride, float* transposed, float* tops),
                (block, labels, stride, transposed, tops))
CORATE_BY_WIDTH(step_forward,
                (const SparseSteps& steps, const float* from, const float* node, size_t labels, float* to, float* sums),
                (steps, from, node, labels, to, sums))
CORATE_BY_WIDTH(step_backward, (const BackwardStep& step), (step))
CORATE_BY_WIDTH(scale_tiles, (float* tiles, size_t labels, const float* factors), (tiles, labels, factors))
CORATE_BY_WIDTH(pair_sums,
                (const float* x, const float* z, size_t positions, size_t labels, const int32_t* first, const int32_t* to,
                 float* sums),
                (x, z, positions, labels, first, to, sums))

}  // namespace

void SparseSteps::set(const float* matrix, size_t labels, size_t stride, float usual) {
    common.clear();
    first.assign(1, 0);
    place.clear();
    more.clear();
    for (size_t to = 0; to < labels; ++to) {
        bool even = usual > 0.0f;
        for (size_t from = 0; from < labels && even; ++from) even = matrix[from * stride + to] >= kLeastShare * usual;
        common.push_back(even ? usual : 0.0f);
        for (size_t from = 0; from < labels; ++from) {
            const float potential = matrix[from * stride + to];
            if (even && potential == usual) continue;
            place.push_back(static_cast<int32_t>(from * kTile));
            more.push_back(potential - common.back());
        }
        first.push_back(static_cast<int32_t>(place.size()));
    }
}

bool SparsePairs::set(const DensePairs& pairs, const uint8_t* free) {
    const size_t K = pairs.pairs.n_labels();
    const float usual = fast_exp(-static_cast<float>(pairs.shift));  // of a score of zero
    dense = &pairs;
    forward.set(pairs.forward.data(), K, pairs.stride, usual);
    backward.set(pairs.backward.data(), K, pairs.stride, usual);
    begin = {pairs.start, std::vector<int32_t>(K + 1, 0), {}, {}};
    count(free);
    return kEntryCost * (forward.place.size() + backward.place.size() + pair.size()) <= 3 * (K + kDenseOverhead) * pairs.stride;
}

void SparsePairs::count(const uint8_t* free) {
    const LabelPairs& pairs = dense->pairs;
    const size_t K = pairs.n_labels();
    first.assign(1, 0);
    pair.clear();
    to.clear();
    place.assign(pairs.size(), -1);
    const auto add = [&](size_t y, size_t z) {
        place[pairs.at(y, z)] = static_cast<int32_t>(pair.size());
        pair.push_back(static_cast<int32_t>(pairs.at(y, z)));
    };
    for (size_t y = 0; y < K; ++y) {
        for (size_t z = 0; z < K; ++z)
            if (free[pairs.at(y, z)]) {
                add(y, z);
                to.push_back(static_cast<int32_t>(z * kTile));
            }
        for (; pair.size() % 4 != 0; to.push_back(0)) pair.push_back(-1);
        first.push_back(static_cast<int32_t>(pair.size()));
    }
    boundaries = false;
    for (size_t y = 0; y < K; ++y) boundaries |= free[pairs.at(K, y)] || free[pairs.at(y, K)];
    for (size_t y = 0; y < K && boundaries; ++y) add(K, y);
    for (size_t y = 0; y < K && boundaries; ++y) add(y, K);
}

void SparseGroup::lay_out(const std::vector<size_t>& lengths, const SparsePairs& pairs) {
    n_labels_ = pairs.dense->pairs.n_labels();
    stride_ = pairs.dense->stride;
    block_ = kTile * stride_;
    lengths_ = lengths;
    node_.resize(longest() * block_);
    alpha_.resize(longest() * n_labels_ * kTile);
    after_.resize(longest() * n_labels_ * kTile);
    scale_.resize(longest() * kTile);
    transposed_.resize(block_);
    ends_.resize(kTile);
    losses_.assign(kTile, 0.0);
    bad_.assign(kTile, 0);
    counts.assign(pairs.pair.size(), 0.0);
    sums_.resize(pairs.to.size());
}

// The number of sentences that have a position j. These come first.
size_t SparseGroup::active(size_t j) const {
    size_t n = 0;
    while (n < lengths_.size() && lengths_[n] > j) ++n;
    return n;
}

void SparseGroup::run(const SparsePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights) {
    begin(pairs, gold);
    forward(pairs);
    backward(pairs);
    apply_weights(weights);
    count(pairs, weights);
    for (size_t s = 0; s < lengths_.size(); ++s) {
        losses_[s] *= static_cast<double>(weights[s]);
        if (!bad_[s]) subtract_gold(pairs, s, gold[s], weights[s]);
    }
}

// Turns scores into potentials. Adds the logarithms of their maxima to the losses, and subtracts the gold scores.
void SparseGroup::begin(const SparsePairs& pairs, const std::vector<const int32_t*>& gold) {
    const LabelPairs& all = pairs.dense->pairs;
    const std::vector<double>& scores = pairs.dense->scores;
    for (size_t s = 0; s < lengths_.size(); ++s) {
        losses_[s] += static_cast<double>(lengths_[s] + 1) * pairs.dense->shift;
        bad_[s] = gold[s] == nullptr;
        if (bad_[s]) continue;
        size_t before = n_labels_;
        for (size_t j = 0; j < lengths_[s]; ++j) {
            const auto y = static_cast<size_t>(gold[s][j]);
            losses_[s] -= static_cast<double>(row(s, j)[y]) + scores[all.at(before, y)];
            before = y;
        }
        losses_[s] -= scores[all.at(before, n_labels_)];
    }
    for (size_t j = 0; j < longest(); ++j) {
        const size_t n = active(j);
        std::fill(row(n, j), nodes(j) + block_, 0.0f);
        float tops[kTile];
        potentials_of_rows(nodes(j), n_labels_, stride_, transposed_.data(), tops);
        for (size_t s = 0; s < n; ++s) losses_[s] += static_cast<double>(tops[s]);
    }
}

void SparseGroup::forward(const SparsePairs& pairs) {
    const std::vector<float>& end = pairs.dense->end;
    std::fill(transposed_.begin(), transposed_.end(), 0.0f);  // before the start: one label with alpha 1
    std::fill_n(transposed_.begin(), kTile, 1.0f);
    // Scales are zero for bad sentences and for sentences that have ended.
    const auto scaled = [&](size_t s, float sum) {
        if (!(sum > kSmallestSum<float>)) bad_[s] = 1;
        if (bad_[s]) return 0.0f;
        losses_[s] += portable_log(static_cast<double>(sum));
        return 1.0f / sum;
    };
    for (size_t j = 0; j < longest(); ++j) {
        alignas(64) float sums[kTile];
        step_forward(j == 0 ? pairs.begin : pairs.forward, j == 0 ? transposed_.data() : alpha(j - 1), nodes(j), n_labels_,
                     alpha(j), sums);
        const size_t n = active(j);
        float* scale = scale_.data() + j * kTile;
        for (size_t s = 0; s < kTile; ++s) scale[s] = s < n ? scaled(s, sums[s]) : 0.0f;
        scale_tiles(alpha(j), n_labels_, scale);
    }
    std::fill(ends_.begin(), ends_.end(), 0.0f);
    for (size_t s = 0; s < lengths_.size(); ++s) {
        const float* last = alpha(lengths_[s] - 1) + s;
        float sum = 0.0f;
        for (size_t y = 0; y < n_labels_; ++y) sum += last[y * kTile] * end[y];
        ends_[s] = scaled(s, sum);
    }
}

void SparseGroup::backward(const SparsePairs& pairs) {
    const std::vector<float> none(longest() > 0 ? n_labels_ * kTile : 0, 0.0f);
    std::fill(transposed_.begin(), transposed_.end(), 0.0f);
    for (size_t j = longest(); j-- > 0;) {
        const size_t n = active(j), beyond = active(j + 1);
        alignas(64) float ending[kTile] = {}, largest[kTile];
        for (size_t s = beyond; s < n; ++s) ending[s] = ends_[s];
        step_backward({pairs.backward, n_labels_, j + 1 < longest() ? after(j + 1) : none.data(), pairs.dense->end.data(), ending,
                       alpha(j), nodes(j), scale_.data() + j * kTile, after(j), transposed_.data(), largest});
        // A label whose alpha was rounded to zero may have such a large beta, so the result is not reliable.
        for (size_t s = 0; s < n; ++s)
            if (!(largest[s] < kLargestBeta<float>)) bad_[s] = 1;
        rows_of_tiles(transposed_.data(), stride_, stride_, nodes(j));
    }
}

// Multiplies each sentence by its weight. Clears bad sentences in the sums of pairs; they may contain NaN, even after
// their end.
void SparseGroup::apply_weights(const std::vector<float>& weights) {
    for (size_t s = 0; s < lengths_.size(); ++s) {
        if (bad_[s])
            for (size_t i = s; i < longest() * n_labels_ * kTile; i += kTile) alpha_[i] = after_[i] = 0.0f;
        if (bad_[s] || weights[s] == 1.0f) continue;
        for (size_t i = s; i < lengths_[s] * n_labels_ * kTile; i += kTile) after_[i] *= weights[s];
        for (size_t j = 0; j < lengths_[s]; ++j) scale_row(row(s, j), weights[s], stride_);
    }
}

void SparseGroup::count(const SparsePairs& pairs, const std::vector<float>& weights) {
    if (lengths_.empty()) return;
    const LabelPairs& all = pairs.dense->pairs;
    const size_t inner = pairs.to.size();
    pair_sums(alpha(0), after(0) + n_labels_ * kTile, longest() - 1, n_labels_, pairs.first.data(), pairs.to.data(),
              sums_.data());
    for (size_t i = 0; i < inner; ++i) {
        const auto pair = static_cast<size_t>(std::max(pairs.pair[i], 0));
        counts[i] = static_cast<double>(pairs.dense->forward[all.first(pair) * stride_ + all.second(pair)] * sums_[i]);
    }
    double *starts = counts.data() + inner, *ends = starts + n_labels_;
    for (size_t s = 0; s < lengths_.size() && pairs.boundaries; ++s) {
        if (bad_[s]) continue;
        const float *first = after(0) + s, *last = alpha(lengths_[s] - 1) + s;
        for (size_t y = 0; y < n_labels_; ++y) {
            starts[y] += static_cast<double>(pairs.dense->start[y] * first[y * kTile]);
            ends[y] += static_cast<double>(weights[s] * last[y * kTile] * pairs.dense->end[y] * ends_[s]);
        }
    }
}

void SparseGroup::subtract_gold(const SparsePairs& pairs, size_t s, const int32_t* gold, float weight) {
    const LabelPairs& all = pairs.dense->pairs;
    size_t before = n_labels_;
    for (size_t j = 0; j < lengths_[s]; ++j) {
        const auto y = static_cast<size_t>(gold[j]);
        row(s, j)[y] -= weight;
        add_pair(pairs, all.at(before, y), -weight);
        before = y;
    }
    add_pair(pairs, all.at(before, n_labels_), -weight);
}
