// The likelihood of a group of sentences, as in dense_chains.h, where most label pairs have one and the same score: those
// never seen have no weight, and score zero. exp(T) is then a constant c and, at the pairs that were seen, what they have
// more, and a step costs as much as there are seen pairs:
//
//     sum_k a(k) exp T(k, l) = c sum_k a(k) + sum over seen k of a(k) (exp T(k, l) - c)
//
// Expected pairs are asked for only where a pair has a weight. The sentences of a group lie side by side, sixteen numbers
// of a label in a tile, so that every seen pair is one operation for all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chain/dense_chains.h"
#include "core/tiles.h"

// The steps in one direction, by the label they lead to.
struct SparseSteps {
    std::vector<float> common;   // K: what all labels before bring
    std::vector<int32_t> first;  // K + 1: where the entries of each label begin
    std::vector<int32_t> place;  // of each entry: the tile of the label it comes from
    std::vector<float> more;     // and what that one brings more

    // Of a matrix of potentials, from row to column, most of which are `usual`.
    void set(const float* matrix, size_t labels, size_t stride, float usual);
};

struct SparsePairs {
    const DensePairs* dense = nullptr;
    SparseSteps forward, backward;
    // The pairs that are counted, by their first label, filled up to fours: a pair (y (K + 1) + y', -1 where it only fills
    // up), and the tile of its second label. Then those of the start and of the end, K each, unless none has a weight.
    std::vector<int32_t> first, pair, to;
    bool boundaries = true;
    std::vector<int32_t> place;  // (K + 1)^2: where a pair stands among those, -1 where it is not counted

    // Whether a step takes less time this way; `free` says of (K + 1)^2 pairs which have a weight to train.
    bool set(const DensePairs& pairs, const uint8_t* free);

   private:
    void count(const uint8_t* free);
};

class SparseGroup {
   public:
    // Makes room for up to kTile sentences of these lengths, longest first.
    void lay_out(const std::vector<size_t>& lengths, const SparsePairs& pairs);
    float* row(size_t s, size_t j) { return node_.data() + j * block_ + s * stride_; }

    // As DenseGroup does; residuals of label pairs are in `counts`, where SparsePairs places them.
    void run(const SparsePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights);
    double loss(size_t s) const { return losses_[s]; }
    bool bad(size_t s) const { return bad_[s]; }
    std::vector<double> counts;  // what is expected and what was seen are nearly the same
    void add_pair(const SparsePairs& pairs, size_t pair, float r) {
        if (pairs.place[pair] >= 0) counts[static_cast<size_t>(pairs.place[pair])] += static_cast<double>(r);
    }
    // Calls use(pair, residual) for the pairs that are counted whose first label belongs to this part.
    template <typename Use>
    void each_pair(const SparsePairs& pairs, size_t part, size_t parts, Use use) const {
        for (size_t i = 0; i < counts.size(); ++i) {
            if (pairs.pair[i] < 0) continue;
            const auto at = static_cast<size_t>(pairs.pair[i]);
            if (parts == 1 || pairs.dense->pairs.first(at) % parts == part) use(at, static_cast<float>(counts[i]));
        }
    }

   private:
    void begin(const SparsePairs& pairs, const std::vector<const int32_t*>& gold);
    void forward(const SparsePairs& pairs);
    void backward(const SparsePairs& pairs);
    void weigh(const std::vector<float>& weights);
    void count(const SparsePairs& pairs, const std::vector<float>& weights);
    void take_gold(const SparsePairs& pairs, size_t s, const int32_t* gold, float weight);
    size_t longest() const { return lengths_.empty() ? 0 : lengths_[0]; }
    size_t active(size_t j) const;
    float* nodes(size_t j) { return node_.data() + j * block_; }
    float* alpha(size_t j) { return alpha_.data() + j * n_labels_ * kTile; }
    float* after(size_t j) { return after_.data() + j * n_labels_ * kTile; }

    size_t n_labels_ = 0, stride_ = 0, block_ = 0;
    std::vector<size_t> lengths_;
    // By position: rows of labels, which become tiles of sentences, and rows again; then tiles only.
    Tiles node_, alpha_, after_, scale_, turned_, ends_;
    std::vector<float> sums_;  // of the pairs that are counted, but for those of start and end
    std::vector<double> losses_;
    std::vector<char> bad_;
};
