// Questions about a distribution on a clique tree, for rows of evidence. Rows that are impossible have the log value -inf.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graphs/clique_tree.h"

// log of the sum of the scores that agree with each row.
std::vector<double> log_sums(const CliqueTree& tree, const Evidence& evidence, size_t threads);

// P(state | row) of all states of all variables, (rows, states); and the log sums.
struct RowMargins {
    std::vector<double> log_values, margins;
};
RowMargins margins(const CliqueTree& tree, const Evidence& evidence, size_t threads);

// P(cell | row) of all cells of the first clique, (rows, cells). The cells are those of the whole clique.
RowMargins first_clique(const CliqueTree& tree, const Evidence& evidence, size_t threads);

// The most likely states given each row, (rows, variables); and the log of their score.
struct BestStates {
    std::vector<double> log_values;
    std::vector<int32_t> states;
};
BestStates most_likely(const CliqueTree& tree, const Evidence& evidence, size_t threads);

// n draws given the first row, (n, variables).
BestStates draw(const CliqueTree& tree, const Evidence& evidence, size_t n, uint64_t seed);

// The sum over rows of weight P(cell | row), over all cells of all cliques; and the log sums. Impossible rows are left out.
RowMargins expected(const CliqueTree& tree, const Evidence& evidence, std::span<const double> weights);

// The entropy of all variables given the first row; NaN if it is impossible.
double entropy(const CliqueTree& tree, const Evidence& evidence);
