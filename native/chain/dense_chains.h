// The likelihood of a group of sentences in which every position has all K labels and edges are the same everywhere; or
// their loss in pieces, in which forward and backward reach one position far only.
//
// Forward and backward steps of the sentences side by side are products of a few rows with one matrix, exp(T), and the
// expected label pairs of all of them are one product of the rows before with the rows after:
//
//     E(y, y') = exp T(y, y') sum over positions j of alpha_j-1(y) b_j(y'),    b_j = node_j beta_j / scale_j
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/label_pairs.h"

// exp(T) as the steps take it, forward and backward; label K is the boundary.
struct DensePairs {
    LabelPairs pairs;
    size_t stride = 0;
    std::vector<float> forward, backward;  // stride x stride
    std::vector<float> start, end;
    std::vector<double> scores;  // (K + 1)^2
    double shift = 0.0;          // taken off every score of a pair

    // `weights` holds (K + 1)^2 scores, `apart` from each other.
    void set(const float* weights, size_t labels, size_t apart);
    // Scores become the logarithms of the potentials, which are rounded. The sums of a corpus take each potential thousands
    // of times; where the right labels score by what was rounded alike, most of that is not seen in the loss.
    void score_as_rounded();
};

class DenseGroup {
   public:
    // Makes room for sentences of these lengths, longest first.
    void lay_out(const std::vector<size_t>& lengths, const DensePairs& pairs);
    float* row(size_t s, size_t j) { return node_.data() + (at_[s] + j) * stride_; }

    // Scores of nodes become residuals, and `table`, (K + 1)^2, those of label pairs. gold(s) points to the labels of
    // sentence s. Those where it is null, or whose scores are too far apart for float32, are left out and bad(s).
    // Losses are times the weight of their sentence, and so are residuals.
    void run(const DensePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights, bool in_pieces);
    double loss(size_t s) const { return losses_[s]; }
    bool bad(size_t s) const { return bad_[s]; }
    std::vector<float> table;
    void add_pair(const DensePairs&, size_t pair, float r) { table[pair] += r; }
    // Calls use(pair, residual) for the pairs whose first label belongs to this part.
    template <typename Use>
    void each_pair(size_t part, size_t parts, Use use) const {
        for (size_t y = part; y <= n_labels_; y += parts)
            for (size_t at = pairs_.row(y); at < pairs_.row(y + 1); ++at) use(at, table[at]);
    }

   private:
    void forward(const DensePairs& pairs);
    void backward(const DensePairs& pairs);
    void pieces(const DensePairs& pairs);
    float* forward_row(size_t s, size_t j) { return alpha_.data() + (at_[s] + j) * stride_; }
    float* after_row(size_t s, size_t j) { return after_.data() + (at_[s] + j) * stride_; }
    void take_gold(size_t s, const int32_t* gold, float weight);

    LabelPairs pairs_;
    size_t n_labels_ = 0, stride_ = 0;
    std::vector<size_t> lengths_, at_;
    std::vector<float> node_, alpha_, after_, beyond_, scale_, ends_, sums_;
    size_t times_ = 1;  // in how many terms of the loss each node stands
    std::vector<double> losses_;
    std::vector<char> bad_;
    std::vector<const float*> in_;
    std::vector<float*> out_;
};
