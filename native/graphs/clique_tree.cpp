#include "graphs/clique_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/logarithms.h"

namespace {

// Products of potentials of up to this many cells are always worth having.
constexpr double kSmallProduct = 1024.0;

constexpr double kLeastProduct = 1e-280;

double least_positive(const Potential& potential) {
    double least = 1.0;
    for (const double value : potential.values)
        if (value > 0.0 && value < least) least = value;
    return least;
}

double product_of(std::span<const int32_t> variables, std::span<const int64_t> sizes) {
    double cells = 1.0;
    for (const int32_t v : variables) cells *= static_cast<double>(sizes[v]);
    return cells;
}

std::vector<int64_t> row_major(std::span<const int32_t> variables, std::span<const int64_t> sizes) {
    std::vector<int64_t> strides(variables.size());
    int64_t step = 1;
    for (size_t k = variables.size(); k-- > 0;) {
        strides[k] = step;
        step *= sizes[variables[k]];
    }
    return strides;
}

// The strides of a part by variable of the whole. Both have their variables in the order of elimination.
std::vector<int64_t> spread(std::span<const int32_t> whole, std::span<const int32_t> part, std::span<const int64_t> strides) {
    std::vector<int64_t> found(whole.size(), 0);
    size_t k = 0;
    for (size_t i = 0; i < whole.size() && k < part.size(); ++i)
        if (whole[i] == part[k]) found[i] = strides[k++];
    if (k != part.size()) throw std::invalid_argument("a table has variables that its clique does not have in this order");
    return found;
}

std::vector<int64_t> sizes_of(std::span<const int32_t> variables, std::span<const int64_t> sizes) {
    std::vector<int64_t> found(variables.size());
    for (size_t k = 0; k < variables.size(); ++k) found[k] = sizes[variables[k]];
    return found;
}

}  // namespace

CliqueTree::CliqueTree(std::vector<int64_t> sizes_given, CliqueTreeArrays arrays, const FactorArrays& factors)
    : sizes(std::move(sizes_given)), tree(std::move(arrays)) {
    const size_t n = n_cliques();
    children.resize(n);
    own.resize(n);
    for (size_t i = 0; i < n; ++i) {
        const int32_t parent = tree.parents[i];
        if (parent >= static_cast<int32_t>(i)) throw std::invalid_argument("a clique comes before its parent");
        if (parent >= 0) children[parent].push_back(static_cast<int32_t>(i));
        int64_t start = tree.offsets[i];
        while (start < tree.offsets[i + 1] && tree.home[tree.variables[start]] == static_cast<int32_t>(i)) ++start;
        separators_.push_back(start);
        if (parent >= 0) spread(clique(parent), separator(i), std::vector<int64_t>(separator(i).size(), 1));
        if (parent < 0 && !separator(i).empty()) throw std::invalid_argument("a root has a separator");
    }
    state_offsets.push_back(0);
    for (const int64_t size : sizes) state_offsets.push_back(state_offsets.back() + size);
    double total = 0.0;
    clique_offsets.push_back(0);
    for (size_t i = 0; i < n; ++i) {
        total += product_of(clique(i), sizes);
        clique_offsets.push_back(total < 9e18 ? static_cast<int64_t>(total) : std::numeric_limits<int64_t>::max());
    }
    for (size_t f = 0; f + 1 < factors.offsets.size(); ++f) {
        const std::span<const int32_t> of = factors.variables.subspan(
            static_cast<size_t>(factors.offsets[f]), static_cast<size_t>(factors.offsets[f + 1] - factors.offsets[f]));
        const std::span<const double> values = factors.values.subspan(
            static_cast<size_t>(factors.starts[f]), static_cast<size_t>(factors.starts[f + 1] - factors.starts[f]));
        const double top = values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
        if (static_cast<double>(values.size()) != product_of(of, sizes) || !(top > 0.0) || !std::isfinite(top))
            throw std::invalid_argument(
                "a factor does not have a finite number above zero, or the number of values of its variables");
        log_scale += portable_log(top);
        if (of.empty()) continue;
        Potential potential{{of.begin(), of.end()}, row_major(of, sizes), {values.begin(), values.end()}};
        for (double& value : potential.values) value /= top;
        add(std::move(potential), static_cast<size_t>(tree.home[of[0]]));
    }
    for (const Potential& potential : potentials) log_least.push_back(portable_log(least_positive(potential)));
}

void CliqueTree::add(Potential&& potential, size_t i) {
    spread(clique(i), potential.variables, potential.strides);
    const double whole = product_of(clique(i), sizes);
    for (const int32_t k : own[i]) {
        std::vector<int32_t> both;
        for (const int32_t v : clique(i)) {
            const auto has = [&](const Potential& p) {
                return std::find(p.variables.begin(), p.variables.end(), v) != p.variables.end();
            };
            if (has(potential) || has(potentials[k])) both.push_back(v);
        }
        const double cells = product_of(both, sizes);
        const auto sum = static_cast<double>(potential.values.size() + potentials[k].values.size());
        if (cells > std::max({kSmallProduct, sum, whole / 8.0})) continue;
        if (least_positive(potential) * least_positive(potentials[k]) < kLeastProduct) continue;  // a cell may underflow
        Potential found{both, row_major(both, sizes), std::vector<double>(static_cast<size_t>(cells), 1.0)};
        for (const Potential* p : {static_cast<const Potential*>(&potential), static_cast<const Potential*>(&potentials[k])}) {
            const TableWalk walk(sizes_of(both, sizes), spread(both, p->variables, p->strides), false);
            Lanes{1}.multiply_in(walk, found.values.data(), p->values.data(), false);
        }
        const double top = *std::max_element(found.values.begin(), found.values.end());
        if (top == 0.0) continue;  // nothing is possible; the rows will show it
        for (double& value : found.values) value /= top;
        log_scale += portable_log(top);
        potentials[k] = std::move(found);
        return;
    }
    own[i].push_back(static_cast<int32_t>(potentials.size()));
    potentials.push_back(std::move(potential));
}

const std::vector<std::vector<double>>& CliqueTree::logs() const {
    std::call_once(logs_once_, [this] {
        logs_.resize(potentials.size());
        for (size_t p = 0; p < potentials.size(); ++p)
            for (const double value : potentials[p].values) logs_[p].push_back(portable_log(value));
    });
    return logs_;
}

EvidencePlan::EvidencePlan(const CliqueTree& tree, const Evidence& evidence, size_t lanes)
    : tree(tree), evidence(evidence), lanes(lanes), left(tree.sizes), columns(tree.n_variables(), -1), cliques(tree.n_cliques()) {
    for (size_t c = 0; c < evidence.variables.size(); ++c) {
        const int32_t v = evidence.variables[c];
        columns[v] = static_cast<int32_t>(c);
        bool always = evidence.rows > 0;
        for (size_t r = 0; r < evidence.rows && always; ++r) always = evidence.row(r)[c] >= 0;
        if (always) left[v] = 1;
    }
    for (size_t i = 0; i < cliques.size(); ++i) {
        Clique& own = cliques[i];
        own.cells = cells(tree.clique(i));
        own.separator_cells = cells(tree.separator(i));
        own.separator_start = message_cells;
        message_cells += own.separator_cells;
        largest = std::max(largest, own.cells);
        largest_separator = std::max(largest_separator, own.separator_cells);
        own.own = walk(tree.clique(i), tree.separator(i));
        if (tree.tree.parents[i] >= 0) own.in_parent = walk(tree.clique(tree.tree.parents[i]), tree.separator(i));
        add_potentials(i);
        add_masks(i);
    }
    for (size_t i = 0; i < cliques.size(); ++i)
        for (const int32_t j : tree.children[i])
            cliques[i].sources.push_back({Source::kMessage,
                                          j,
                                          cliques[j].separator_start,
                                          tree.separator(j),
                                          strides(tree.separator(j)),
                                          cliques[j].in_parent,
                                          {}});
    choose_margins();
}

void EvidencePlan::add_potentials(size_t i) {
    for (const int32_t p : tree.own[i]) {
        const Potential& potential = tree.potentials[p];
        const std::span<const int32_t> of = potential.variables;
        const bool cut = std::any_of(of.begin(), of.end(), [&](int32_t v) { return left[v] != tree.sizes[v]; });
        if (cut && lanes > 1) {
            cliques[i].sources.push_back({Source::kSliced, p, sliced_cells, of, potential.strides, walk(tree.clique(i), of),
                                          TableWalk(sizes_of(of, left), potential.strides, false)});
            sliced_cells += cells(of);
        } else {
            cliques[i].sources.push_back(
                {Source::kPotential, p, 0, of, potential.strides, walk_by(tree.clique(i), of, potential.strides), {}});
        }
    }
}

void EvidencePlan::add_masks(size_t i) {
    for (const int32_t& v : tree.residual(i)) {
        if (columns[v] < 0 || (left[v] == 1 && tree.sizes[v] > 1)) continue;
        const std::span<const int32_t> of(&v, 1);
        cliques[i].sources.push_back({Source::kMask, columns[v], mask_cells, of, {1}, walk(tree.clique(i), of), {}});
        mask_cells += left[v];
    }
}

void EvidencePlan::choose_margins() {
    std::vector<int32_t> best(tree.n_variables(), -1);
    for (size_t j = 0; j < cliques.size(); ++j)
        for (const int32_t v : tree.separator(j))
            if (best[v] < 0 || cliques[j].separator_cells < cliques[best[v]].separator_cells) best[v] = static_cast<int32_t>(j);
    for (size_t v = 0; v < best.size(); ++v)
        (best[v] < 0 ? cliques[tree.tree.home[v]].margins : cliques[best[v]].separator_margins)
            .push_back(static_cast<int32_t>(v));
}

int64_t EvidencePlan::cells(std::span<const int32_t> variables) const {
    const double found = product_of(variables, left);
    if (found > 1e15) throw std::length_error("a clique has more than 10^15 cells");
    return static_cast<int64_t>(found);
}

std::vector<int64_t> EvidencePlan::strides(std::span<const int32_t> variables) const { return row_major(variables, left); }

TableWalk EvidencePlan::walk(std::span<const int32_t> whole, std::span<const int32_t> part) const {
    return walk_by(whole, part, strides(part));
}

TableWalk EvidencePlan::walk_by(std::span<const int32_t> whole, std::span<const int32_t> part,
                                std::span<const int64_t> part_strides) const {
    return TableWalk(sizes_of(whole, left), spread(whole, part, part_strides), lanes > 1);
}

int64_t EvidencePlan::offset(std::span<const int32_t> variables, std::span<const int64_t> strides, const int32_t* row) const {
    int64_t found = 0;
    for (size_t k = 0; k < variables.size(); ++k) {
        const int32_t column = columns[variables[k]];
        if (column >= 0 && left[variables[k]] == 1) found += strides[k] * std::max(0, row[column]);
    }
    return found;
}
