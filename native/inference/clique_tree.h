// A product of factors on a clique tree. The tree knows which variables each factor has; its values are arguments of questions, so
// one tree serves all instances of a shape.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "inference/elimination.h"
#include "inference/table_walk.h"

// Lists of variables: list i holds variables[offsets[i] .. offsets[i + 1]).
struct Scopes {
    std::vector<int64_t> offsets;
    std::vector<int32_t> variables;

    size_t size() const { return offsets.size() - 1; }
    std::span<const int32_t> operator[](size_t i) const {
        return {variables.data() + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    }
};

// The product of some factors of one clique, over the variables of any of them in the order of elimination. Each potential belongs
// to the clique in which its first variable is eliminated. Factors of one clique are multiplied where the product is small.
struct Potential {
    std::vector<int32_t> variables;
    std::vector<int64_t> strides;
    std::vector<size_t> factors;
    std::vector<TableWalk> walks;  // the potential and each of its factors
    int64_t start, cells;          // of its values among those of all potentials
};

class CliqueTree {
   public:
    // Raises std::invalid_argument unless the arrays describe a clique tree, and each factor has its variables in the order of
    // elimination.
    CliqueTree(std::vector<int64_t> sizes, CliqueTreeArrays tree, Scopes factors);

    size_t n_variables() const { return sizes.size(); }
    size_t n_cliques() const { return tree.parents.size(); }
    int64_t factor_cells() const { return factor_starts.back(); }
    // The values of a factor among those of all factors.
    std::span<const double> values_of(size_t factor, std::span<const double> values) const {
        const int64_t start = factor_starts[factor];
        return values.subspan(static_cast<size_t>(start), static_cast<size_t>(factor_starts[factor + 1] - start));
    }
    std::span<const int32_t> clique(size_t i) const { return part(tree.offsets[i], tree.offsets[i + 1]); }
    // The variables of a clique that are eliminated in it, and the others.
    std::span<const int32_t> residual(size_t i) const { return part(tree.offsets[i], separators_[i]); }
    std::span<const int32_t> separator(size_t i) const { return part(separators_[i], tree.offsets[i + 1]); }

    std::vector<int64_t> sizes;
    CliqueTreeArrays tree;
    Scopes factors;
    std::vector<std::vector<int32_t>> children;
    std::vector<Potential> potentials;
    std::vector<std::vector<int32_t>> own;  // by clique: its potentials
    std::vector<int64_t> factor_starts;     // of each factor's values
    std::vector<int64_t> state_offsets;     // by variable: the place of its first state among all states
    std::vector<int64_t> clique_offsets;    // the place of each clique's first cell among all cells of cliques; 2^63 - 1 if over

   private:
    std::span<const int32_t> part(int64_t start, int64_t stop) const {
        return {tree.variables.data() + start, static_cast<size_t>(stop - start)};
    }
    void check() const;
    void add_factor(size_t factor);

    std::vector<int64_t> separators_;  // where the separator of each clique begins
};

// The strides of a row-major table over some variables.
std::vector<int64_t> row_major(std::span<const int32_t> variables, std::span<const int64_t> sizes);
// The strides of a part by variable of the whole. Both have their variables in the order of elimination.
std::vector<int64_t> spread(std::span<const int32_t> whole, std::span<const int32_t> part, std::span<const int64_t> strides);
std::vector<int64_t> sizes_of(std::span<const int32_t> variables, std::span<const int64_t> sizes);
double cells_of(std::span<const int32_t> variables, std::span<const int64_t> sizes);

// The values of all potentials for one instance: score(x) = exp(log_scale) prod over potentials of their values at x, from 0 to 1.
class PotentialValues {
   public:
    // From the values of all factors, one factor after the other, or from their logarithms. Raises std::invalid_argument for
    // numbers that are negative, NaN or too large, and for a factor that is zero everywhere.
    PotentialValues(const CliqueTree& tree, std::span<const double> factors, bool logs);

    const CliqueTree& tree() const { return tree_; }
    const double* values(size_t potential) const { return values_.data() + tree_.potentials[potential].start; }
    // Logarithms of the values. Where products underflow these do not.
    const double* logs(size_t potential) const;

    double log_scale = 0.0;
    std::vector<double> log_least;  // by potential: no value above zero has a lower log

   private:
    void multiply(size_t potential, std::span<const double> factors, bool logs);
    void add_logs(size_t potential, std::span<const double> factors, bool logs);

    const CliqueTree& tree_;
    std::vector<double> values_;
    mutable std::once_flag logs_once_;
    mutable std::vector<std::vector<double>> logs_;  // by potential; those that underflow are there from the beginning
};
