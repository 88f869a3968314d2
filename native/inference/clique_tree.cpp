#include "inference/clique_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/array.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// Products of potentials of up to this many cells are always worth having.
constexpr double kSmallProduct = 1024.0;
// Products of numbers with logarithms above this do not underflow.
constexpr double kLeastExact = -640.0;
constexpr double kLeastExponent = -700.0;  // the exponential of less is zero

void check_ids(std::span<const int32_t> ids, int64_t low, size_t n, const char* what) {
    for (const int32_t id : ids)
        if (id < low || id >= static_cast<int64_t>(n)) throw std::invalid_argument(what);
}

}  // namespace

double cells_of(std::span<const int32_t> variables, std::span<const int64_t> sizes) {
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

CliqueTree::CliqueTree(std::vector<int64_t> sizes_given, CliqueTreeArrays arrays, Scopes scopes)
    : sizes(std::move(sizes_given)), tree(std::move(arrays)), factors(std::move(scopes)) {
    check();
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
        total += cells_of(clique(i), sizes);
        clique_offsets.push_back(total < 9e18 ? static_cast<int64_t>(total) : std::numeric_limits<int64_t>::max());
    }
    factor_starts.push_back(0);
    for (size_t f = 0; f < factors.size(); ++f) add_factor(f);
    int64_t start = 0;
    for (Potential& potential : potentials) {
        potential.strides = row_major(potential.variables, sizes);
        potential.cells = static_cast<int64_t>(cells_of(potential.variables, sizes));
        potential.start = start;
        start += potential.cells;
        for (const size_t f : potential.factors)
            potential.walks.emplace_back(sizes_of(potential.variables, sizes),
                                         spread(potential.variables, factors[f], row_major(factors[f], sizes)), false);
    }
}

void CliqueTree::check() const {
    const size_t n = sizes.size(), cliques = tree.parents.size();
    check_sizes(sizes);
    check_offsets(tree.offsets, tree.variables.size(), "clique offsets and variables disagree");
    check_offsets(factors.offsets, factors.variables.size(), "factor offsets and variables disagree");
    if (tree.offsets.size() != cliques + 1 || tree.home.size() != n)
        throw std::invalid_argument("cliques and variables disagree in number");
    check_ids(tree.variables, 0, n, "a clique has an unknown variable");
    check_ids(tree.parents, -1, cliques, "a clique has an unknown parent");
    check_ids(tree.home, 0, cliques, "a variable has an unknown clique");
    check_ids(factors.variables, 0, n, "a factor has an unknown variable");
}

// Adds a factor to a potential of its clique, if the product is small, and else as a potential of its own.
void CliqueTree::add_factor(size_t factor) {
    const std::span<const int32_t> of = factors[factor];
    const double cells = cells_of(of, sizes);
    if (cells + static_cast<double>(factor_starts.back()) > 1e15) throw std::length_error("factors have more than 10^15 cells");
    factor_starts.push_back(factor_starts.back() + static_cast<int64_t>(cells));
    if (of.empty()) return;
    const auto i = static_cast<size_t>(tree.home[of[0]]);
    spread(clique(i), of, row_major(of, sizes));
    const double whole = cells_of(clique(i), sizes);
    for (const int32_t k : own[i]) {
        Potential& potential = potentials[k];
        std::vector<int32_t> both;
        for (const int32_t v : clique(i)) {
            const auto among = [&](std::span<const int32_t> scope) {
                return std::find(scope.begin(), scope.end(), v) != scope.end();
            };
            if (among(of) || among(potential.variables)) both.push_back(v);
        }
        if (cells_of(both, sizes) > std::max({kSmallProduct, cells + cells_of(potential.variables, sizes), whole / 8.0}))
            continue;
        potential.variables = std::move(both);
        potential.factors.push_back(factor);
        return;
    }
    own[i].push_back(static_cast<int32_t>(potentials.size()));
    potentials.push_back({{of.begin(), of.end()}, {}, {factor}, {}, 0, 0});
}

PotentialValues::PotentialValues(const CliqueTree& tree, std::span<const double> factors, bool logs)
    : log_least(tree.potentials.size()), tree_(tree), logs_(tree.potentials.size()) {
    if (static_cast<int64_t>(factors.size()) != tree.factor_cells())
        throw std::invalid_argument("factors do not have the number of values of their variables");
    const double none = logs ? -INFINITY : 0.0;
    for (const double value : factors)
        if (!(value >= none && value < INFINITY)) throw std::invalid_argument("a factor is negative or not finite");
    for (size_t f = 0; f < tree.factors.size(); ++f)
        if (std::ranges::max(tree.values_of(f, factors)) == none)
            throw std::invalid_argument("a factor has no number above zero");
    for (size_t f = 0; f < tree.factors.size(); ++f)
        if (tree.factors[f].empty())
            log_scale += logs ? tree.values_of(f, factors)[0] : portable_log(tree.values_of(f, factors)[0]);
    if (!tree.potentials.empty())
        values_.resize(static_cast<size_t>(tree.potentials.back().start + tree.potentials.back().cells));
    for (size_t p = 0; p < tree.potentials.size(); ++p) {
        for (const size_t f : tree.potentials[p].factors) {
            const std::span<const double> own = tree.values_of(f, factors);
            const double top = std::ranges::max(own);
            double least = top;
            for (const double value : own) least = value > none && value < least ? value : least;
            log_least[p] += logs ? least - top : portable_log(least / top);
        }
        log_least[p] > kLeastExact ? multiply(p, factors, logs) : add_logs(p, factors, logs);
    }
}

// The product of factors, each divided by its maximum, where it does not underflow.
void PotentialValues::multiply(size_t p, std::span<const double> factors, bool logs) {
    const Potential& potential = tree_.potentials[p];
    const std::span<double> to(values_.data() + potential.start, static_cast<size_t>(potential.cells));
    std::vector<double> part;
    for (size_t k = 0; k < potential.factors.size(); ++k) {
        const std::span<const double> own = tree_.values_of(potential.factors[k], factors);
        const double top = std::ranges::max(own);
        part.resize(own.size());
        for (size_t c = 0; c < part.size(); ++c) part[c] = logs ? own[c] - top : own[c] / top;
        if (logs) exponentiate(part.data(), part.size());
        for (size_t c = 0; c < part.size() && logs; ++c) part[c] = own[c] == -INFINITY ? 0.0 : part[c];
        log_scale += logs ? top : portable_log(top);
        if (k == 0)
            Lanes{1}.copy_in(potential.walks[k], to.data(), part.data(), false);
        else
            Lanes{1}.multiply_in(potential.walks[k], to.data(), part.data(), false);
    }
    if (potential.factors.size() == 1) return;
    double top = 0.0, least = 1.0;
    for (const double value : to) {
        top = std::max(top, value);
        least = value > 0.0 && value < least ? value : least;
    }
    if (top == 0.0) return;  // nothing is possible; the rows will show it
    for (double& value : to) value /= top;
    log_scale += portable_log(top);
    log_least[p] = portable_log(least / top);
}

// The sum of the logarithms of factors, and from it the values.
void PotentialValues::add_logs(size_t p, std::span<const double> factors, bool logs) {
    const Potential& potential = tree_.potentials[p];
    std::vector<double>& sum = logs_[p];
    sum.assign(static_cast<size_t>(potential.cells), 0.0);
    for (size_t k = 0; k < potential.factors.size(); ++k) {
        const std::span<const double> own = tree_.values_of(potential.factors[k], factors);
        std::vector<double> part(own.begin(), own.end());
        for (size_t c = 0; c < part.size() && !logs; ++c) part[c] = portable_log(part[c]);
        log_multiply_in(potential.walks[k], sum.data(), part.data());
    }
    double* to = values_.data() + potential.start;
    const double top = std::ranges::max(sum);
    if (top == -INFINITY) return;  // nothing is possible, and all values are zero
    log_scale += top;
    for (double& value : sum) value -= top;
    std::ranges::copy(sum, to);
    exponentiate(to, sum.size());
    for (size_t c = 0; c < sum.size(); ++c) to[c] = sum[c] > kLeastExponent ? to[c] : 0.0;
}

const double* PotentialValues::logs(size_t p) const {
    std::call_once(logs_once_, [this] {
        for (size_t k = 0; k < logs_.size(); ++k) {
            if (!logs_[k].empty()) continue;
            logs_[k].assign(values(k), values(k) + tree_.potentials[k].cells);
            for (double& value : logs_[k]) value = portable_log(value);
        }
    });
    return logs_[p].data();
}
