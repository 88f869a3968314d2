// A product of tables on a clique tree, and what evidence about some variables leaves of it.
#pragma once
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "graphs/elimination.h"
#include "graphs/table_walk.h"

// A table of numbers from 0 to 1, in the order of elimination of its variables.
struct Potential {
    std::vector<int32_t> variables;
    std::vector<int64_t> strides;
    std::vector<double> values;
};

struct FactorArrays {
    std::span<const int64_t> offsets;    // of the variables of each factor
    std::span<const int32_t> variables;  // in the order of elimination
    std::span<const int64_t> starts;     // of the values of each factor
    std::span<const double> values;
};

// score(x) = exp(log_scale) prod over potentials of their values at x. Each potential belongs to the clique in which its first
// variable is eliminated. Potentials of one clique are multiplied where the product is small.
class CliqueTree {
   public:
    CliqueTree(std::vector<int64_t> sizes, CliqueTreeArrays tree, const FactorArrays& factors);

    size_t n_variables() const { return sizes.size(); }
    size_t n_cliques() const { return tree.parents.size(); }
    std::span<const int32_t> clique(size_t i) const { return part(tree.variables, tree.offsets[i], tree.offsets[i + 1]); }
    // The variables of a clique that are eliminated in it, and the others.
    std::span<const int32_t> residual(size_t i) const { return part(tree.variables, tree.offsets[i], separators_[i]); }
    std::span<const int32_t> separator(size_t i) const { return part(tree.variables, separators_[i], tree.offsets[i + 1]); }
    // Logarithms of the potentials' values, by potential; computed when first asked for.
    const std::vector<std::vector<double>>& logs() const;

    std::vector<int64_t> sizes;
    CliqueTreeArrays tree;
    std::vector<std::vector<int32_t>> children;
    std::vector<Potential> potentials;
    std::vector<std::vector<int32_t>> own;  // by clique: its potentials
    std::vector<int64_t> state_offsets;     // by variable: the place of its first state among all states
    std::vector<int64_t> clique_offsets;    // the place of each clique's first cell among all cells of cliques; 2^63 - 1 if over
    std::vector<double> log_least;          // by potential: the log of its least value above zero
    double log_scale = 0.0;

   private:
    static std::span<const int32_t> part(const std::vector<int32_t>& all, int64_t start, int64_t stop) {
        return {all.data() + start, static_cast<size_t>(stop - start)};
    }
    void add(Potential&& potential, size_t clique);
    Potential product(const Potential& a, const Potential& b, size_t clique) const;

    std::vector<int64_t> separators_;  // where the separator of each clique begins
    mutable std::once_flag logs_once_;
    mutable std::vector<std::vector<double>> logs_;
};

// Rows of evidence: a state or -1 (not observed) for each of some variables.
struct Evidence {
    std::span<const int32_t> variables;
    const int32_t* states;
    size_t rows;

    const int32_t* row(size_t r) const { return states + r * variables.size(); }
};

// The walks of message passing for the rows of an Evidence. A variable that is observed in all rows leaves the tables: only the
// cells of its state are used. One that is observed in some rows only gets a mask of zeros and ones.
class EvidencePlan {
   public:
    // A table that is multiplied into a clique.
    struct Source {
        enum Kind { kPotential, kSliced, kMask, kMessage } kind;
        int32_t index;      // of the potential, the column of evidence or the child
        int64_t start = 0;  // of its cells among the cells of its kind
        std::span<const int32_t> variables;
        std::vector<int64_t> strides;  // by variable of the source; of the whole potential
        TableWalk walk;                // clique and source
        TableWalk slice;               // for kSliced: what is left of the potential, and the whole potential
    };
    struct Clique {
        int64_t cells = 1, separator_cells = 1, separator_start = 0;
        std::vector<Source> sources;
        TableWalk own;                           // this clique and its separator
        TableWalk in_parent;                     // the parent and this separator
        std::vector<int32_t> margins;            // variables whose probabilities are computed from the clique's table
        std::vector<int32_t> separator_margins;  // and from that of its separator
    };

    EvidencePlan(const CliqueTree& tree, const Evidence& evidence, size_t lanes);

    // The table of some variables with what is left of it, as a part of a table over `whole`.
    TableWalk walk(std::span<const int32_t> whole, std::span<const int32_t> part) const;
    // Row-major strides of a table over some variables with what is left of each.
    std::vector<int64_t> strides(std::span<const int32_t> variables) const;
    // The place of the observed states of a row in a whole potential.
    int64_t offset(std::span<const int32_t> variables, std::span<const int64_t> strides, const int32_t* row) const;
    int64_t cells(std::span<const int32_t> variables) const;

    const CliqueTree& tree;
    const Evidence& evidence;
    size_t lanes;
    std::vector<int64_t> left;     // by variable: 1 if it is observed in all rows, else its number of states
    std::vector<int32_t> columns;  // by variable: its column of evidence, or -1
    std::vector<Clique> cliques;
    int64_t message_cells = 0, sliced_cells = 0, mask_cells = 0, largest = 1, largest_separator = 1;

   private:
    void add_potentials(size_t i);
    void add_masks(size_t i);
    TableWalk walk_by(std::span<const int32_t> whole, std::span<const int32_t> part, std::span<const int64_t> part_strides) const;
    void choose_margins();
};
