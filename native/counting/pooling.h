// Pooling: each template is an expert with its own label counts, and the node score is a weighted sum of their evidence.
//
//     x_f(y) = log(1 + n(f, y) / (k P(y)))         the evidence of feature f for label y, from its counts
//     node(y) = bias(y) + sum over features f of the token of w_expert(f) x_f(y)
//
// x_f is log P(y | f) - log P(y), with P(y | f) smoothed toward P(y) by k, up to a term common to all labels. In training the
// token itself is left out: n(f, its label) is reduced by one. Then the edges, given the nodes:
//
//     T(y, y') = log (n(y, y') + k) / (e(y, y') + k),   e = sum over edges of P_i(y) P_i+1(y') exp(T) / Z_i
//
// repeated: iterative scaling of P(y, y' | x) proportional to P(y | x) P(y' | x) exp(T(y, y')).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/array.h"
#include "counting/conditional_logit.h"
#include "counting/counting.h"

// Tokens with their features, which are rows of a count table, and their candidate labels, ascending.
struct PooledTokens {
    LabelCounts table;
    Csr features, candidates;  // by token
    Array<double> prior;       // P(y)
    double k;
    std::optional<Array<int32_t>> left_out;  // each token's own label, to leave it out

    // Throws unless `by_feature` numbers of features, and the rest, fit together.
    void check(size_t by_feature) const;
};

// The evidence of each expert for each candidate label: (candidates, experts).
NewMatrix<float> expert_evidence(const PooledTokens& tokens, const Array<int32_t>& expert_of, size_t n_experts);
// The weighted evidence for each candidate label of each token.
std::vector<float> pooled_scores(const PooledTokens& tokens, const Array<float>& feature_weight, size_t threads);
// Sums of the conditional logit over tokens. x is (candidates, experts). gold is the index of the gold candidate, -1 to skip a
// token.
ConditionalLogit conditional_logit(const Matrix<float>& x, const Csr& candidates, const Array<int64_t>& gold,
                                   const Array<double>& theta, size_t n_labels);
// Expected label pairs if P(y, y') is proportional to P(y) P(y') exp(score): (K + 1, K + 1).
NewMatrix<double> pair_expectations(const Array<int64_t>& sentences, const Csr& candidates, const Array<float>& posteriors,
                                    const Matrix<double>& scores);
