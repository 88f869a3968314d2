// What evidence leaves of a clique tree: which tables are multiplied into each clique, and the walks over them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "inference/clique_tree.h"

// Rows of evidence: a state or -1 (not observed) for each of some variables.
struct Evidence {
    std::span<const int32_t> variables;
    const int32_t* states;
    size_t rows;

    const int32_t* row(size_t r) const { return states + r * variables.size(); }
    // Raises std::invalid_argument unless variables and states exist, and no variable is named twice.
    void check(const CliqueTree& tree) const;
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

    // `by_row` tells whether each row has values of factors of its own.
    EvidencePlan(const CliqueTree& tree, const Evidence& evidence, bool by_row, size_t lanes);

    // Makes the walks of all factors.
    void walk_factors();

    // The table of some variables with what is left of it, as a part of a table over `whole`.
    TableWalk walk(std::span<const int32_t> whole, std::span<const int32_t> part) const;
    // Row-major strides of a table over some variables with what is left of each.
    std::vector<int64_t> strides(std::span<const int32_t> variables) const;
    // The place of the observed states of a row in a whole potential.
    int64_t offset(std::span<const int32_t> variables, std::span<const int64_t> strides, const int32_t* row) const;
    int64_t cells(std::span<const int32_t> variables) const;

    const CliqueTree& tree;
    size_t lanes;
    std::vector<int64_t> left;     // by variable: 1 if it is observed in all rows, else its number of states
    std::vector<int32_t> columns;  // by variable: its column of evidence, or -1
    std::vector<Clique> cliques;
    std::vector<TableWalk> factors;  // the table of the clique and that of each factor, after walk_factors
    int64_t message_cells = 0, sliced_cells = 0, mask_cells = 0, largest = 1;

   private:
    void add_potentials(size_t i, bool by_row);
    void add_masks(size_t i);
    TableWalk walk_by(std::span<const int32_t> whole, std::span<const int32_t> part, std::span<const int64_t> part_strides) const;
    void choose_margins();
};
