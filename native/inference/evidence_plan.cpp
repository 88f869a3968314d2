#include "inference/evidence_plan.h"

#include <algorithm>
#include <stdexcept>

void Evidence::check(const CliqueTree& tree) const {
    std::vector<uint8_t> seen(tree.n_variables(), 0);
    for (const int32_t v : variables) {
        if (v < 0 || static_cast<size_t>(v) >= seen.size()) throw std::invalid_argument("evidence of an unknown variable");
        if (seen[v]++) throw std::invalid_argument("a variable has evidence twice");
    }
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < variables.size(); ++c)
            if (row(r)[c] < -1 || row(r)[c] >= tree.sizes[variables[c]]) throw std::invalid_argument("a state is out of range");
}

EvidencePlan::EvidencePlan(const CliqueTree& tree, const Evidence& evidence, bool by_row, size_t lanes)
    : tree(tree), lanes(lanes), left(tree.sizes), columns(tree.n_variables(), -1), cliques(tree.n_cliques()) {
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
        own.own = walk(tree.clique(i), tree.separator(i));
        if (tree.tree.parents[i] >= 0) own.in_parent = walk(tree.clique(tree.tree.parents[i]), tree.separator(i));
        add_potentials(i, by_row);
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

void EvidencePlan::add_potentials(size_t i, bool by_row) {
    for (const int32_t p : tree.own[i]) {
        const Potential& potential = tree.potentials[p];
        const std::span<const int32_t> of = potential.variables;
        const bool cut = std::any_of(of.begin(), of.end(), [&](int32_t v) { return left[v] != tree.sizes[v]; });
        if ((cut || by_row) && lanes > 1) {
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

void EvidencePlan::walk_factors() {
    factors.resize(tree.factors.size());
    for (size_t i = 0; i < cliques.size(); ++i)
        for (const int32_t p : tree.own[i])
            for (const size_t f : tree.potentials[p].factors) factors[f] = walk(tree.clique(i), tree.factors[f]);
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
    const double found = cells_of(variables, left);
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
