#include "inference/clique_queries.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "core/logarithms.h"
#include "core/mixing.h"
#include "core/parallel.h"
#include "core/vectors.h"
#include "inference/clique_pass.h"

namespace {

// Several rows at once pay off while their tables fit the cache.
constexpr int64_t kMostCellsOfLanes = 1 << 15;
// The best of so few cells is found by computing each on its own.
constexpr int64_t kFewCells = 64;

// The values of the potentials of some rows of a question.
class LaneValues {
   public:
    explicit LaneValues(const Question& question) : question_(question) {}

    bool by_row() const { return question_.values.index() != 0; }
    void set(size_t lane, size_t row) {
        if (const auto* shared = std::get_if<const PotentialValues*>(&question_.values))
            values_[lane] = *shared;
        else
            std::visit([&](const auto& values) { read(lane, row, values); }, question_.values);
    }
    std::span<const PotentialValues* const> get(size_t lane, size_t lanes) const { return {values_.data() + lane, lanes}; }

   private:
    void read(size_t, size_t, const PotentialValues*) {}
    template <typename Number>
    void read(size_t lane, size_t row, const RowLogs<Number>& logs) {
        const auto n = static_cast<size_t>(question_.tree.factor_cells());
        factors_.assign(logs.numbers + row * n, logs.numbers + (row + 1) * n);
        own_[lane] = std::make_unique<PotentialValues>(question_.tree, factors_, true);
        values_[lane] = own_[lane].get();
    }

    const Question& question_;
    std::vector<double> factors_;
    std::array<std::unique_ptr<PotentialValues>, kLanes> own_;
    std::array<const PotentialValues*, kLanes> values_{};
};

template <typename Number>
RowAnswers<Number> empty_answers(size_t log_values, size_t rows, size_t columns) {
    return {std::vector<double>(log_values), {std::vector<Number>(rows * columns), rows, columns}};
}

// Calls block(pass, first row, lanes to use) after messages went up for the rows of the lanes, on several threads. Rows that are
// lost, before or after that, are done again with logarithms; `once` does so beforehand for those that may be lost later. `factors`
// asks for the walks of factors.
template <typename Block>
void each_block(const Question& question, Sweep sweep, Block block, bool once = false, bool factors = false) {
    const Evidence& evidence = question.evidence;
    const bool by_row = LaneValues(question).by_row();
    EvidencePlan single(question.tree, evidence, by_row, 1);
    const bool together = evidence.rows >= kLanes / 2 && single.largest <= kMostCellsOfLanes;
    std::optional<EvidencePlan> wide;
    if (together) wide.emplace(question.tree, evidence, by_row, kLanes);
    if (factors) single.walk_factors();
    if (factors && together) wide->walk_factors();
    const EvidencePlan& plan = together ? *wide : single;
    const size_t lanes = plan.lanes, blocks = (evidence.rows + lanes - 1) / lanes;
    std::atomic<size_t> next{0};
    in_parallel(useful_threads(question.threads, blocks), [&](size_t) {
        CliquePass pass(plan, sweep, false);
        LaneValues values(question);
        std::optional<CliquePass> logs;
        for (size_t b = next++; b < blocks; b = next++) {
            std::array<const int32_t*, kLanes> rows;
            const size_t first = b * lanes, count = std::min(lanes, evidence.rows - first);
            for (size_t l = 0; l < lanes; ++l) {
                rows[l] = evidence.row(first + std::min(l, count - 1));
                values.set(l, first + std::min(l, count - 1));
            }
            pass.up({rows.data(), lanes}, values.get(0, lanes));
            std::array<bool, kLanes> kept{};
            for (size_t l = 0; l < count; ++l) kept[l] = !pass.lost(l) && !(once && pass.steep(l));
            if (std::find(kept.begin(), kept.end(), true) != kept.end()) block(pass, first, kept);
            for (size_t l = 0; l < count; ++l) {
                if (kept[l] && (once || !pass.lost(l))) continue;
                if (!logs) logs.emplace(single, sweep, true);
                logs->up({&rows[l], 1}, values.get(l, 1));
                block(*logs, first + l, std::array<bool, kLanes>{true});
            }
        }
    });
}

// The same for one row.
template <typename Block>
void one_block(const Question& question, Block block) {
    const Evidence& all = question.evidence;
    each_block({question.tree, question.values, {all.variables, all.states, 1}}, Sweep::kSum,
               [&](CliquePass& pass, size_t, const std::array<bool, kLanes>&) { block(pass); });
}

// Normalises the numbers of a lane to the sum 1 and writes them; with logs they are exponentiated first.
void write_normalised(const CliquePass& pass, const double* part, int64_t cells, size_t lane, double* out) {
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

// Writes the log values of a block's rows. Returns whether any of them is possible.
bool write_values(const CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept, std::vector<double>& out) {
    bool possible = false;
    for (size_t l = 0; l < pass.lanes(); ++l) {
        if (!kept[l]) continue;
        out[first + l] = pass.log_value(l);
        possible |= out[first + l] > -INFINITY;
    }
    return possible;
}

void write_margins(CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept, std::vector<double>& out) {
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
void set_residual(const CliquePass& pass, size_t i, int64_t cell, int32_t* states) {
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
void choose_best(CliquePass& pass, size_t i, size_t lane, int32_t* states) {
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
void accumulate(CliquePass& pass, size_t i) {
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
void draw_clique(const CliquePass& pass, const double* sums, size_t i, double uniform, int32_t* states) {
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

// The cells that are left of some variables' table, and where they are among all its cells.
TableWalk full_walk(const EvidencePlan& plan, std::span<const int32_t> variables, std::span<const int64_t> strides) {
    std::vector<int64_t> sizes;
    for (const int32_t v : variables) sizes.push_back(plan.left[v]);
    return TableWalk(sizes, strides, false);
}

// Adds weight P(cell | row) of a table over some variables to the cells of the whole table.
template <typename Number>
void add_probabilities(const CliquePass& pass, std::span<const int32_t> variables, const double* table, size_t lane,
                       double weight, Number* out) {
    const EvidencePlan& plan = pass.plan();
    const std::vector<int64_t> strides = row_major(variables, plan.tree.sizes);
    const int64_t n = plan.cells(variables), offset = plan.offset(variables, strides, pass.row(lane));
    std::vector<double> values(static_cast<size_t>(n));
    write_normalised(pass, table, n, lane, values.data());
    full_walk(plan, variables, strides).each_cell([&](int64_t cell, int64_t place) {
        out[offset + place] += static_cast<Number>(weight * values[cell]);
    });
}

}  // namespace

std::vector<double> log_sums(const Question& question) {
    std::vector<double> found(question.evidence.rows);
    each_block(question, Sweep::kSum, [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        write_values(pass, first, kept, found);
    });
    return found;
}

RowMargins margins(const Question& question) {
    const size_t rows = question.evidence.rows;
    auto found = empty_answers<double>(rows, rows, static_cast<size_t>(question.tree.state_offsets.back()));
    each_block(question, Sweep::kSum, [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        if (write_values(pass, first, kept, found.log_values)) write_margins(pass, first, kept, found.table.values);
    });
    return found;
}

template <typename Number>
RowAnswers<Number> expectations(const Question& question) {
    const CliqueTree& tree = question.tree;
    const size_t rows = question.evidence.rows, width = static_cast<size_t>(tree.factor_cells());
    auto found = empty_answers<Number>(rows, rows, width);
    each_block(
        question, Sweep::kSum,
        [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
            if (!write_values(pass, first, kept, found.log_values)) return;
            std::vector<double> part, values;
            const auto write = [&](size_t i, const double* table) {
                for (const int32_t p : tree.own[i])
                    for (const size_t f : tree.potentials[p].factors) {
                        const TableWalk& walk = pass.plan().factors[f];
                        const int64_t start = tree.factor_starts[f], n = pass.plan().cells(tree.factors[f]);
                        part.resize(static_cast<size_t>(n) * pass.lanes());
                        values.resize(static_cast<size_t>(n));
                        pass.sum_out(walk, table, part.data(), n);
                        for (size_t l = 0; l < pass.lanes(); ++l) {
                            if (!kept[l]) continue;
                            Number* to = found.table.values.data() + (first + l) * width + start;
                            if (n < tree.factor_starts[f + 1] - start) {  // a part of the table agrees with the evidence
                                add_probabilities(pass, tree.factors[f], part.data(), l, 1.0, to);
                                continue;
                            }
                            write_normalised(pass, part.data(), n, l, values.data());
                            for (int64_t c = 0; c < n; ++c) to[c] = static_cast<Number>(values[c]);
                        }
                    }
            };
            pass.down(true, write, [](size_t, const double*) {});
        },
        true, true);
    for (size_t f = 0; f < tree.factors.size(); ++f)
        for (size_t r = 0; r < rows && tree.factors[f].empty(); ++r)
            found.table.values[r * width + static_cast<size_t>(tree.factor_starts[f])] = found.log_values[r] > -INFINITY;
    return found;
}

template RowAnswers<double> expectations(const Question& question);
template RowAnswers<float> expectations(const Question& question);

RowMargins first_clique(const Question& question) {
    const size_t rows = question.evidence.rows, width = static_cast<size_t>(question.tree.clique_offsets[1]);
    auto found = empty_answers<double>(rows, rows, width);
    each_block(question, Sweep::kSum, [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        write_values(pass, first, kept, found.log_values);
        const double* table = pass.fill(0);
        for (size_t l = 0; l < pass.lanes(); ++l)
            if (kept[l] && pass.log_value(l) > -INFINITY)
                add_probabilities(pass, question.tree.clique(0), table, l, 1.0, found.table.values.data() + (first + l) * width);
    });
    return found;
}

BestStates most_likely(const Question& question) {
    const size_t n = question.tree.n_variables(), rows = question.evidence.rows;
    auto found = empty_answers<int32_t>(rows, rows, n);
    each_block(question, Sweep::kMaximum, [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        write_values(pass, first, kept, found.log_values);
        for (size_t l = 0; l < pass.lanes(); ++l)
            for (size_t i = 0; kept[l] && i < question.tree.n_cliques(); ++i)
                choose_best(pass, i, l, found.table.values.data() + (first + l) * n);
    });
    return found;
}

BestStates draw(const Question& question, size_t n, uint64_t seed) {
    const size_t width = question.tree.n_variables();
    require(question.evidence.rows == 1, "draws need one row of evidence");
    auto found = empty_answers<int32_t>(1, n, width);
    one_block(question, [&](CliquePass& pass) {
        found.log_values[0] = pass.log_value(0);
        if (pass.log_value(0) == -INFINITY) return;
        for (size_t i = 0; i < question.tree.n_cliques(); ++i) {
            pass.fill(i);
            accumulate(pass, i);
            for (size_t s = 0; s < n; ++s) {
                const double uniform = as_uniform(mixed(mixed(mixed(seed) + s) + i * 0x9E3779B97F4A7C15ull));
                draw_clique(pass, pass.table(), i, uniform, found.table.values.data() + s * width);
            }
        }
    });
    return found;
}

RowMargins expected(const Question& question, std::span<const double> weights) {
    const CliqueTree& tree = question.tree;
    require(weights.size() == question.evidence.rows, "rows and weights disagree in number");
    auto found = empty_answers<double>(question.evidence.rows, 1, static_cast<size_t>(tree.clique_offsets.back()));
    const auto add = [&](CliquePass& pass, size_t first, const std::array<bool, kLanes>& kept) {
        if (!write_values(pass, first, kept, found.log_values)) return;
        const auto add_clique = [&](size_t i, const double* table) {
            for (size_t l = 0; l < pass.lanes(); ++l)
                if (kept[l])
                    add_probabilities(pass, tree.clique(i), table, l, weights[first + l],
                                      found.table.values.data() + tree.clique_offsets[i]);
        };
        pass.down(true, add_clique, [](size_t, const double*) {});
    };
    each_block({tree, question.values, question.evidence}, Sweep::kSum, add, true);
    return found;
}

double entropy(const Question& question) {
    const CliqueTree& tree = question.tree;
    require(question.evidence.rows == 1, "the entropy needs one row of evidence");
    double found = NAN;
    one_block(question, [&](CliquePass& pass) {
        if (pass.log_value(0) == -INFINITY) return;
        // log sum - E[log score]
        const PotentialValues& values = pass.values(0);
        const EvidencePlan& plan = pass.plan();
        found = pass.log_value(0) - values.log_scale;
        std::vector<double> part, probabilities;
        const auto subtract = [&](size_t i, const double* table) {
            for (const int32_t p : tree.own[i]) {
                const Potential& potential = tree.potentials[p];
                const int64_t n = plan.cells(potential.variables);
                part.resize(static_cast<size_t>(n));
                probabilities.resize(static_cast<size_t>(n));
                pass.sum_out(plan.walk(tree.clique(i), potential.variables), table, part.data(), n);
                write_normalised(pass, part.data(), n, 0, probabilities.data());
                const double* logs = values.logs(p) + plan.offset(potential.variables, potential.strides, pass.row(0));
                full_walk(plan, potential.variables, potential.strides).each_cell([&](int64_t cell, int64_t place) {
                    if (probabilities[cell] > 0.0) found -= probabilities[cell] * logs[place];
                });
            }
        };
        pass.down(true, subtract, [](size_t, const double*) {});
    });
    return found;
}
