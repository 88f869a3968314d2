#include "graphs/graph_queries.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "core/logarithms.h"
#include "core/mixing.h"
#include "core/parallel.h"
#include "core/vectors.h"
#include "graphs/message_pass.h"

namespace {

// Several rows at once pay off while their tables fit the cache.
constexpr int64_t kMostCellsOfLanes = 1 << 15;
// The best of so few cells is found by computing each on its own.
constexpr int64_t kFewCells = 64;

// Calls block(pass, first row, lanes to use) after messages went up for the rows of the lanes, on several threads. Rows that are
// lost, before or after that, are done again with logarithms; `once` does so beforehand for those that may be lost later.
template <typename Block>
void each_block(const CliqueTree& tree, const Evidence& evidence, Sweep sweep, size_t threads, Block block, bool once = false) {
    const EvidencePlan single(tree, evidence, 1);
    const bool together = evidence.rows >= kLanes / 2 && single.largest <= kMostCellsOfLanes;
    std::optional<EvidencePlan> wide;
    if (together) wide.emplace(tree, evidence, kLanes);
    const EvidencePlan& plan = together ? *wide : single;
    const size_t lanes = plan.lanes, blocks = (evidence.rows + lanes - 1) / lanes, parts = useful_threads(threads, blocks);
    std::atomic<size_t> next{0};
    in_parallel(parts, [&](size_t) {
        MessagePass pass(plan, sweep, false);
        std::optional<MessagePass> logs;
        for (size_t b = next++; b < blocks; b = next++) {
            std::array<const int32_t*, kLanes> rows;
            const size_t first = b * lanes, count = std::min(lanes, evidence.rows - first);
            for (size_t l = 0; l < lanes; ++l) rows[l] = evidence.row(first + std::min(l, count - 1));
            pass.up({rows.data(), lanes});
            std::array<bool, kLanes> kept{};
            for (size_t l = 0; l < count; ++l) kept[l] = !pass.lost(l) && !(once && pass.steep(l));
            if (std::find(kept.begin(), kept.end(), true) != kept.end()) block(pass, first, kept);
            for (size_t l = 0; l < count; ++l) {
                if (kept[l] && (once || !pass.lost(l))) continue;
                if (!logs) logs.emplace(single, sweep, true);
                logs->up({&rows[l], 1});
                block(*logs, first + l, std::array<bool, kLanes>{true});
            }
        }
    });
}

// Normalises the numbers of a lane to the sum 1 and writes them; with logs they are exponentiated first.
void write_normalised(const MessagePass& pass, const double* part, int64_t cells, size_t lane, double* out) {
    const size_t lanes = pass.lanes();
    double total = 0.0, top = 0.0;
    if (pass.logs()) top = *std::max_element(part, part + cells);
    for (int64_t k = 0; k < cells; ++k) {
        const double value = part[static_cast<size_t>(k) * lanes + lane];
        out[k] = pass.logs() ? (value > -INFINITY ? fast_exp(value - top) : 0.0) : value;
        total += out[k];
    }
    for (int64_t k = 0; k < cells; ++k) out[k] /= total;
}

void write_margins(MessagePass& pass, size_t first, const std::array<bool, kLanes>& kept, std::vector<double>& out) {
    const EvidencePlan& plan = pass.plan();
    const CliqueTree& tree = plan.tree;
    const auto width = static_cast<size_t>(tree.state_offsets.back());
    std::vector<double> part;
    const auto write = [&](std::span<const int32_t> variables, std::span<const int32_t> margins, const double* table) {
        for (const int32_t& v : margins) {
            const int64_t n = plan.left[v];
            part.resize(static_cast<size_t>(n) * pass.lanes());
            pass.sum_out(plan.walk(variables, {&v, 1}), table, part.data(), n);
            for (size_t l = 0; l < pass.lanes(); ++l) {
                if (!kept[l]) continue;
                double* to = out.data() + (first + l) * width + tree.state_offsets[v];
                if (n == tree.sizes[v])
                    write_normalised(pass, part.data(), n, l, to);
                else
                    to[pass.row(l)[plan.columns[v]]] = 1.0;
            }
        }
    };
    pass.down(
        false, [&](size_t i, const double* table) { write(tree.clique(i), plan.cliques[i].margins, table); },
        [&](size_t j, const double* table) { write(tree.separator(j), plan.cliques[j].separator_margins, table); });
}

// The cell of a clique's separator that some states are in.
int64_t separator_place(const EvidencePlan& plan, size_t i, const int32_t* states) {
    int64_t place = 0;
    for (const int32_t v : plan.tree.separator(i)) place = place * plan.left[v] + (plan.left[v] > 1 ? states[v] : 0);
    return place;
}

// Sets the states of a clique's residual variables to those of a cell of them.
void set_residual(const MessagePass& pass, size_t i, int64_t cell, int32_t* states) {
    const EvidencePlan& plan = pass.plan();
    const std::span<const int32_t> residual = plan.tree.residual(i);
    for (size_t k = residual.size(); k-- > 0;) {
        const int32_t v = residual[k], column = plan.columns[v];
        states[v] = plan.left[v] > 1 ? static_cast<int32_t>(cell % plan.left[v])
                    : column >= 0    ? std::max(0, pass.row(0)[column])
                                     : 0;
        cell /= plan.left[v];
    }
}

int64_t best_of_column(const double* table, int64_t cells, int64_t width, int64_t column) {
    int64_t best = 0;
    for (int64_t r = 1; r < cells / width; ++r)
        if (table[r * width + column] > table[best * width + column]) best = r;
    return best;
}

// The best cell of a clique given the states of its separator, over the residual variables that are not observed.
void choose_best(MessagePass& pass, size_t i, size_t lane, int32_t* states) {
    const EvidencePlan& plan = pass.plan();
    std::vector<int32_t> free;
    for (const int32_t v : plan.tree.residual(i)) {
        states[v] = 0;
        if (plan.left[v] > 1)
            free.push_back(v);
        else if (plan.columns[v] >= 0)
            states[v] = std::max(0, pass.row(lane)[plan.columns[v]]);
    }
    if (free.empty()) return;
    const EvidencePlan::Clique& clique = plan.cliques[i];
    if (pass.lanes() == 1 && clique.cells / clique.separator_cells > kFewCells) {
        pass.fill(i);
        set_residual(pass, i,
                     best_of_column(pass.table(), clique.cells, clique.separator_cells, separator_place(plan, i, states)),
                     states);
        return;
    }
    std::vector<int32_t> best(free.size(), 0);
    double top = -INFINITY;
    for (;;) {
        if (const double value = pass.value_at(i, lane, states); value > top) {
            top = value;
            for (size_t k = 0; k < free.size(); ++k) best[k] = states[free[k]];
        }
        size_t k = free.size();
        while (k > 0 && ++states[free[k - 1]] == plan.left[free[k - 1]]) states[free[--k]] = 0;
        if (k == 0) break;
    }
    for (size_t k = 0; k < free.size(); ++k) states[free[k]] = best[k];
}

// Turns a clique's table into running sums over its residual cells, for every cell of the separator.
void accumulate(MessagePass& pass, size_t i) {
    const EvidencePlan::Clique& clique = pass.plan().cliques[i];
    double* table = pass.table();
    const int64_t width = clique.separator_cells;
    if (pass.logs()) {
        std::vector<double> top(static_cast<size_t>(width), -INFINITY);
        for (int64_t c = 0; c < clique.cells; ++c) top[c % width] = std::max(top[c % width], table[c]);
        for (int64_t c = 0; c < clique.cells; ++c) table[c] = table[c] > -INFINITY ? fast_exp(table[c] - top[c % width]) : 0.0;
    }
    for (int64_t c = width; c < clique.cells; ++c) table[c] += table[c - width];
}

// Draws the residual variables of a clique given the states of its separator.
void draw_clique(const MessagePass& pass, const double* sums, size_t i, double uniform, int32_t* states) {
    const EvidencePlan& plan = pass.plan();
    const int64_t width = plan.cliques[i].separator_cells, rows = plan.cliques[i].cells / width;
    const int64_t at = separator_place(plan, i, states);
    const double wanted = uniform * sums[(rows - 1) * width + at];
    int64_t low = 0, high = rows - 1;  // the first row whose running sum is above what is wanted
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (sums[middle * width + at] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    while (low > 0 && sums[low * width + at] == sums[(low - 1) * width + at]) --low;  // rounding: no state of probability zero
    set_residual(pass, i, low, states);
}

// Where the cells that are left of a clique are among all its cells, for the observed states of a row.
std::vector<int64_t> full_strides(const CliqueTree& tree, std::span<const int32_t> variables) {
    std::vector<int64_t> strides(variables.size());
    int64_t step = 1;
    for (size_t k = variables.size(); k-- > 0;) {
        strides[k] = step;
        step *= tree.sizes[variables[k]];
    }
    return strides;
}

TableWalk full_walk(const EvidencePlan& plan, std::span<const int32_t> variables, std::span<const int64_t> strides) {
    std::vector<int64_t> sizes;
    for (const int32_t v : variables) sizes.push_back(plan.left[v]);
    return TableWalk(sizes, strides, false);
}

// Adds weight P(cell | row) of a table to the cells of the whole clique.
void add_probabilities(const MessagePass& pass, size_t i, const double* table, size_t lane, double weight, double* out) {
    const EvidencePlan& plan = pass.plan();
    const std::span<const int32_t> variables = plan.tree.clique(i);
    const std::vector<int64_t> strides = full_strides(plan.tree, variables);
    const int64_t n = plan.cliques[i].cells, offset = plan.offset(variables, strides, pass.row(lane));
    std::vector<double> values(static_cast<size_t>(n));
    write_normalised(pass, table, n, lane, values.data());
    full_walk(plan, variables, strides).each_cell([&](int64_t cell, int64_t place) {
        out[offset + place] += weight * values[cell];
    });
}

}  // namespace

std::vector<double> log_sums(const CliqueTree& tree, const Evidence& evidence, size_t threads) {
    std::vector<double> found(evidence.rows);
    each_block(tree, evidence, Sweep::kSum, threads, [&](MessagePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        for (size_t l = 0; l < pass.lanes(); ++l)
            if (kept[l]) found[first + l] = pass.log_value(l);
    });
    return found;
}

RowMargins margins(const CliqueTree& tree, const Evidence& evidence, size_t threads) {
    RowMargins found{std::vector<double>(evidence.rows),
                     std::vector<double>(evidence.rows * static_cast<size_t>(tree.state_offsets.back()))};
    each_block(tree, evidence, Sweep::kSum, threads, [&](MessagePass& pass, size_t first, std::array<bool, kLanes> kept) {
        for (size_t l = 0; l < pass.lanes(); ++l)
            if (kept[l]) found.log_values[first + l] = pass.log_value(l);
        if (!pass.logs() || pass.log_value(0) > -INFINITY) write_margins(pass, first, kept, found.margins);
    });
    return found;
}

RowMargins first_clique(const CliqueTree& tree, const Evidence& evidence, size_t threads) {
    const auto width = static_cast<size_t>(tree.clique_offsets[1]);
    RowMargins found{std::vector<double>(evidence.rows), std::vector<double>(evidence.rows * width)};
    each_block(tree, evidence, Sweep::kSum, threads, [&](MessagePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        const double* table = pass.fill(0);
        for (size_t l = 0; l < pass.lanes(); ++l) {
            if (!kept[l]) continue;
            found.log_values[first + l] = pass.log_value(l);
            if (pass.log_value(l) > -INFINITY)
                add_probabilities(pass, 0, table, l, 1.0, found.margins.data() + (first + l) * width);
        }
    });
    return found;
}

BestStates most_likely(const CliqueTree& tree, const Evidence& evidence, size_t threads) {
    const size_t n = tree.n_variables();
    BestStates found{std::vector<double>(evidence.rows), std::vector<int32_t>(evidence.rows * n)};
    each_block(tree, evidence, Sweep::kMaximum, threads,
               [&](MessagePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
                   for (size_t l = 0; l < pass.lanes(); ++l) {
                       if (!kept[l]) continue;
                       found.log_values[first + l] = pass.log_value(l);
                       for (size_t i = 0; i < tree.n_cliques(); ++i)
                           choose_best(pass, i, l, found.states.data() + (first + l) * n);
                   }
               });
    return found;
}

BestStates draw(const CliqueTree& tree, const Evidence& evidence, size_t n, uint64_t seed) {
    const size_t width = tree.n_variables();
    BestStates found{std::vector<double>(1), std::vector<int32_t>(n * width)};
    const Evidence one{evidence.variables, evidence.states, 1};
    each_block(tree, one, Sweep::kSum, 1, [&](MessagePass& pass, size_t, const std::array<bool, kLanes>&) {
        found.log_values[0] = pass.log_value(0);
        if (pass.log_value(0) == -INFINITY) return;
        for (size_t i = 0; i < tree.n_cliques(); ++i) {
            pass.fill(i);
            accumulate(pass, i);
            for (size_t s = 0; s < n; ++s) {
                const double uniform = as_uniform(mixed(mixed(mixed(seed) + s) + i * 0x9E3779B97F4A7C15ull));
                draw_clique(pass, pass.table(), i, uniform, found.states.data() + s * width);
            }
        }
    });
    return found;
}

RowMargins expected(const CliqueTree& tree, const Evidence& evidence, std::span<const double> weights) {
    RowMargins found{std::vector<double>(evidence.rows), std::vector<double>(static_cast<size_t>(tree.clique_offsets.back()))};
    each_block(
        tree, evidence, Sweep::kSum, 1,
        [&](MessagePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
            for (size_t l = 0; l < pass.lanes(); ++l)
                if (kept[l]) found.log_values[first + l] = pass.log_value(l);
            if (pass.logs() && pass.log_value(0) == -INFINITY) return;
            pass.down(
                true,
                [&](size_t i, const double* table) {
                    for (size_t l = 0; l < pass.lanes(); ++l)
                        if (kept[l])
                            add_probabilities(pass, i, table, l, weights[first + l],
                                              found.margins.data() + tree.clique_offsets[i]);
                },
                [](size_t, const double*) {});
        },
        true);
    return found;
}

double entropy(const CliqueTree& tree, const Evidence& evidence) {
    double found = NAN;
    const Evidence one{evidence.variables, evidence.states, 1};
    each_block(tree, one, Sweep::kSum, 1, [&](MessagePass& pass, size_t, const std::array<bool, kLanes>&) {
        if (pass.log_value(0) == -INFINITY) return;
        // log sum - E[log score]
        found = pass.log_value(0) - tree.log_scale;
        std::vector<double> part, values;
        pass.down(
            true,
            [&](size_t i, const double* table) {
                for (const int32_t p : tree.own[i]) {
                    const EvidencePlan& plan = pass.plan();
                    const Potential& potential = tree.potentials[p];
                    const int64_t n = plan.cells(potential.variables);
                    part.resize(static_cast<size_t>(n));
                    values.resize(static_cast<size_t>(n));
                    pass.sum_out(plan.walk(tree.clique(i), potential.variables), table, part.data(), n);
                    write_normalised(pass, part.data(), n, 0, values.data());
                    const int64_t offset = plan.offset(potential.variables, potential.strides, pass.row(0));
                    full_walk(plan, potential.variables, potential.strides).each_cell([&](int64_t cell, int64_t place) {
                        if (values[cell] > 0.0) found -= values[cell] * portable_log(potential.values[offset + place]);
                    });
                }
            },
            [](size_t, const double*) {});
    });
    return found;
}
