// Questions about distributions on a clique tree, for rows of evidence. Rows that are impossible have the log value -inf.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/array.h"
#include "inference/evidence_plan.h"

// The logarithms of the values of all factors, (rows, factor cells), row-major: each row of evidence has its own.
template <typename Number>
struct RowLogs {
    const Number* numbers;
};

struct Question {
    const CliqueTree& tree;
    std::variant<const PotentialValues*, RowLogs<double>, RowLogs<float>> values;  // a pointer: the same for all rows
    Evidence evidence;
    size_t threads = 1;
};

// By row of evidence: the logarithm of a sum or of a score, and a row of numbers.
template <typename Number>
struct RowAnswers {
    std::vector<double> log_values;
    NewMatrix<Number> table;
};
using RowMargins = RowAnswers<double>;
using BestStates = RowAnswers<int32_t>;

// log of the sum of the scores that agree with each row.
std::vector<double> log_sums(const Question& question);

// P(state | row) of all states of all variables, (rows, states); and the log sums.
RowMargins margins(const Question& question);

// P(cell | row) of all cells of all factors, (rows, factor cells): what the log sums change by with the logarithms of the values.
template <typename Number>
RowAnswers<Number> expectations(const Question& question);

// P(cell | row) of all cells of the first clique, (rows, cells). The cells are those of the whole clique.
RowMargins first_clique(const Question& question);

// The most likely states given each row, (rows, variables); and the log of their score.
BestStates most_likely(const Question& question);

// n draws given the first row, (n, variables).
BestStates draw(const Question& question, size_t n, uint64_t seed);

// The sum over rows of weight P(cell | row), (1, cells of all cliques); and the log sums. Impossible rows are left out.
RowMargins expected(const Question& question, std::span<const double> weights);

// The entropy of all variables given the first row; NaN if it is impossible.
double entropy(const Question& question);
