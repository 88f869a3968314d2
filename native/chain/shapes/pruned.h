// Chains of candidate labels: each position has its own number of labels, and its own block of edges. Their order is one or two.
//
//     alpha_j(l) = node_j(l) sum_k alpha_j-1(k) edge_j(k, l) / scale_j,  scale_j such that alpha_j sums to 1
//     beta_j-1(k) = sum_l edge_j(k, l) b_j(l),  b_j(l) = node_j(l) beta_j(l) / scale_j
//     P(y_j-1 = k, y_j = l) = alpha_j-1(k) edge_j(k, l) b_j(l)
//
// In second-order chains, labels k and l are pairs of neighbouring labels that share one label, node_j is a pair's score with that
// of its last label, and edge_j are scores of triples. Potentials are exp(score - largest score of the block).
//
// Why it exists: with four candidates for each token, it is 1.6, 4 and 46 times faster than a group (full_group.h) of all 9, 50 and
// 235 labels. Triples are 2.6 and 18 times faster than the same labels, 3 and 9, as a first-order chain of pairs.
#pragma once
#include "chain/chain.h"

// Turns scores into expectations, by scaled products. Returns log Z, or NaN if the range of the scores exceeds Real.
template <typename Real>
double scaled_expectations(Chain<Real>& chain);
// The same in log space, which always works.
double log_expectations(Chain<double>& chain);
