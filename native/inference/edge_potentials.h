// Tables of edges as potentials, for messages and beliefs. Messages stay probabilities as long as their products cannot underflow.
#pragma once
#include <cstddef>
#include <vector>

#include "inference/pairwise_field.h"

// A product of numbers stays above 1e-290 if their logarithms sum to more than minus this.
constexpr double kSafe = 650.0;
constexpr double kLeastLog = -1e300;  // in place of minus infinity, where it is added to

// A table as potentials divided by their maximum, by the label of the left end and by that of the right end.
struct EdgePotentials {
    EdgePotentials(const double* table, double weight, size_t k, size_t padded);

    // out(b) = sum (or maximum) over a of cavity(a) potential(a, b), where a is the label of the left or of the right end.
    void multiply(const std::vector<double>& cavity, bool left, bool maximum, std::vector<double>& out) const;

    size_t labels;

    double top, spread;  // logarithms: the maximum, and the maximum less the least number above zero
    bool hard = false;   // some pair is forbidden
    bool tied;           // one number if the labels are the same, another if they differ
    double weight;
    std::vector<double> scores;                 // divided by the weight
    std::vector<double> from_left, from_right;  // (labels, padded)
};

// Both forms of each table: with the weight 1 for edges on no loop, and then with its own weight.
std::vector<EdgePotentials> potentials_of(const PairwiseField& field, size_t padded);
