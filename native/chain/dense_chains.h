// The likelihood, or the piecewise loss, of a group of sentences in which every position has all K labels and edge scores do not
// depend on the position. The sums are those of shapes/full_group.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chain/shapes/full_group.h"
#include "core/label_pairs.h"

// exp(T), laid out for forward and backward steps. Label K is the boundary.
struct DensePairs {
    LabelPairs pairs;
    size_t stride = 0;
    std::vector<float> forward, backward;  // stride x stride
    std::vector<float> start, end;
    std::vector<float> into;      // the sum of the potentials that lead to each label, without the start's
    std::vector<double> rounded;  // the error of its logarithm, if summed exactly
    std::vector<double> scores;   // (K + 1)^2
    double shift = 0.0;           // subtracted from the score of every pair

    // `weights` holds (K + 1)^2 scores, one in every `apart` floats.
    void set(const float* weights, size_t labels, size_t apart);
    // Replaces the scores by the logarithms of the rounded potentials. A corpus uses each potential thousands of times.
    // If the gold score has the same rounding errors, most of them cancel in the loss.
    void score_as_rounded();
    // The same for pieces: their gold pairs may be unlikely, so the rounding errors of pairs would not cancel. Sums the
    // potentials that lead to a label in float64. P(y | y') is then exact, and the errors of P(y') cancel.
    void sum_exactly();
    StepPotentials<float> potentials() const { return {forward.data(), backward.data(), start.data(), end.data()}; }
};

class DenseGroup : private FullGroup<float> {
   public:
    // Allocates sentences of these lengths, longest first.
    void lay_out(const std::vector<size_t>& lengths, const DensePairs& pairs);
    using FullGroup<float>::row;
    using FullGroup<float>::bad;

    // Replaces node scores by residuals, and writes the residuals of label pairs to `table`, (K + 1)^2. gold[s] points
    // to the labels of sentence s. A sentence is skipped, and bad(s) is true, if gold[s] is null or if the range of its
    // scores exceeds float32. Losses and residuals are multiplied by the sentence's weight.
    void run(const DensePairs& pairs, const std::vector<const int32_t*>& gold, const std::vector<float>& weights, bool piecewise);
    double loss(size_t s) const { return log_z_[s]; }
    std::vector<float> table;
    void add_pair(const DensePairs&, size_t pair, float r) { table[pair] += r; }
    // Calls use(pair, residual) for the pairs whose first label belongs to this part.
    template <typename Use>
    void each_pair(size_t part, size_t parts, Use use) const {
        for (size_t y = part; y <= n_labels_; y += parts)
            for (size_t at = pairs_.row(y); at < pairs_.row(y + 1); ++at) use(at, table[at]);
    }

   private:
    void run_piecewise(const DensePairs& pairs);
    void subtract_gold(size_t s, const int32_t* gold, float weight);

    LabelPairs pairs_;
};
