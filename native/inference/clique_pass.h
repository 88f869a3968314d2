// Message passing on a clique tree, for one row of evidence or for kLanes rows at once.
//
//     up:    m_i(s) = sum (or maximum) over the cells c of clique i that restrict to s of
//                     prod potentials of i at c  prod over children j of m_j(c restricted to the separator of j)
//     down:  d_j(s) = b_i(s) / m_j(s),  b_i(c) = d_i(c) prod potentials of i at c  prod over children j of m_j(c),  0 / 0 = 0
//
// b_i is proportional to the probability of the cells of clique i. No table of a clique is kept: memory is that of the largest
// clique and of all separators. Messages are scaled to the maximum 1. A row is lost, and has to be computed again with logarithms,
// if a message vanishes (the row may be impossible), or if cells that underflowed might matter: a cell can underflow only where the
// product of the least numbers above zero of all sources does, and what was lost grows at most with the cells of a sum.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "inference/evidence_plan.h"

enum class Sweep { kSum, kMaximum };

class CliquePass {
   public:
    static constexpr double kLeast = 1e-290;       // of numbers that have not underflowed
    static constexpr double kLargestLoss = 1e-13;  // relative

    // With `logs`, which needs one lane, tables and messages are logarithms.
    CliquePass(const EvidencePlan& plan, Sweep sweep, bool logs);

    // Passes all messages up. `rows` are the rows of evidence of the lanes, and `values` the values of the potentials of each.
    void up(std::span<const int32_t* const> rows, std::span<const PotentialValues* const> values);
    // log of the sum (or maximum) of the scores that agree with the evidence; minus infinity if there is none.
    double log_value(size_t lane) const { return log_values_[lane]; }
    bool lost(size_t lane) const { return lost_[lane]; }
    // Whether messages have so small numbers that the way down may lose some.
    bool steep(size_t lane) const { return steep_[lane]; }

    // Passes messages down, after `up`. Calls clique(i, table) with the table of each clique, and separator(j, table) with that of
    // the separator of j, neither normalised. Cliques without use are left out unless `all`.
    template <typename OnClique, typename OnSeparator>
    void down(bool all, OnClique clique, OnSeparator separator) {
        for (size_t i = 0; i < plan_.cliques.size(); ++i) {
            const auto& children = plan_.tree.children[i];
            if (!all && children.empty() && plan_.cliques[i].margins.empty()) continue;
            fill(i);
            if (plan_.tree.tree.parents[i] >= 0) multiply(plan_.cliques[i].own, down_.data() + start(i), false);
            clique(i, std::as_const(table_).data());
            for (const int32_t j : children) {
                double* margin = down_.data() + start(j);
                sum_out(plan_.cliques[j].in_parent, table_.data(), margin, cells(j));
                separator(static_cast<size_t>(j), std::as_const(*this).down_.data() + start(j));
                divide(j);
            }
        }
    }

    // Fills the table of a clique with the product of its potentials and its children's messages.
    const double* fill(size_t i);
    // The sum of a table over the variables that a part does not have; with logs the logarithm of the sum.
    void sum_out(const TableWalk& walk, const double* table, double* part, int64_t part_cells) const;
    // The product of all sources of a clique at some states, as a logarithm if `logs`.
    double value_at(size_t i, size_t lane, const int32_t* states) const;
    const double* message(size_t i) const { return up_.data() + start(i); }
    double* table() { return table_.data(); }

    const EvidencePlan& plan() const { return plan_; }
    const int32_t* row(size_t lane) const { return rows_[lane]; }
    const PotentialValues& values(size_t lane) const { return *values_[lane]; }
    size_t lanes() const { return plan_.lanes; }
    bool logs() const { return logs_; }

   private:
    int64_t start(size_t i) const { return plan_.cliques[i].separator_start * static_cast<int64_t>(plan_.lanes); }
    int64_t cells(size_t i) const { return plan_.cliques[i].separator_cells; }
    void set_rows();
    const double* source(const EvidencePlan::Source& source) const;
    void multiply(const TableWalk& walk, const double* part, bool shared);
    void scale(double* message, int64_t cells, std::array<double, kLanes>& top, std::array<double, kLanes>& least) const;
    void bound_loss(size_t i, const std::array<double, kLanes>& top, const std::array<double, kLanes>& least);
    void divide(size_t j);

    const EvidencePlan& plan_;
    Sweep sweep_;
    bool logs_;
    std::vector<double> table_, up_, down_, masks_, sliced_;
    std::array<const int32_t*, kLanes> rows_{};
    std::array<const PotentialValues*, kLanes> values_{};
    std::array<double, kLanes> log_values_{};
    std::vector<double> log_least_, loss_;  // by clique and lane: of its message
    std::array<bool, kLanes> lost_{}, steep_{};
};
