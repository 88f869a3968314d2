// Binds native/graphs: elimination orders, clique trees and counting.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"
#include "graphs/cell_counts.h"
#include "graphs/elimination.h"
#include "graphs/graph_queries.h"

namespace {

using TreeArrays = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>, In<int32_t>>;  // offsets, variables, parents, home

void check_ids(std::span<const int32_t> ids, int64_t low, size_t n, const char* what) {
    for (const int32_t id : ids)
        if (id < low || id >= static_cast<int64_t>(n)) throw nb::value_error(what);
}

std::vector<int64_t> checked_sizes(const In<int64_t>& sizes) {
    for (const int64_t size : view(sizes))
        if (size < 1 || size > INT32_MAX) throw nb::value_error("a variable has no states, or too many");
    return {view(sizes).begin(), view(sizes).end()};
}

nb::tuple eliminated(const In<int64_t>& sizes, const In2<int32_t>& edges, const In<uint8_t>& last, int tries, uint64_t seed) {
    const size_t n = sizes.shape(0);
    if (edges.shape(1) != 2 || last.shape(0) != n || n == 0)
        throw nb::value_error("edges must be pairs, and last have all nodes");
    EliminationGraph graph;
    graph.neighbours.resize(n);
    for (const int64_t size : checked_sizes(sizes)) graph.sizes.push_back(static_cast<double>(size));
    graph.last.assign(last.data(), last.data() + n);
    check_ids({edges.data(), edges.size()}, 0, n, "an edge has an unknown end");
    for (size_t e = 0; e < edges.shape(0); ++e) {
        graph.neighbours[edges(e, 0)].push_back(edges(e, 1));
        graph.neighbours[edges(e, 1)].push_back(edges(e, 0));
    }
    for (size_t v = 0; v < n; ++v) {
        std::vector<int32_t>& near = graph.neighbours[v];
        std::sort(near.begin(), near.end());
        near.erase(std::unique(near.begin(), near.end()), near.end());
        if (std::binary_search(near.begin(), near.end(), static_cast<int32_t>(v)))
            throw nb::value_error("a node has an edge to itself");
    }
    Elimination found;
    CliqueTreeArrays tree;
    unlocked([&] {
        found = best_elimination(graph, tries, seed);
        tree = clique_tree(found);
    });
    nb::tuple arrays =
        to_tuple(std::move(tree.offsets), std::move(tree.variables), std::move(tree.parents), std::move(tree.home));
    return nb::make_tuple(arrays, to_numpy(std::move(found.order)), found.cells, found.added);
}

// Evidence of a call, checked.
struct CheckedEvidence {
    CheckedEvidence(const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states)
        : evidence{view(variables), states.data(), states.shape(0)} {
        check_ids(view(variables), 0, tree.n_variables(), "evidence of an unknown variable");
        if (states.shape(1) != variables.shape(0)) throw nb::value_error("evidence and variables disagree in number");
        std::vector<uint8_t> seen(tree.n_variables(), 0);
        for (const int32_t v : view(variables))
            if (seen[v]++) throw nb::value_error("a variable has evidence twice");
        for (size_t r = 0; r < states.shape(0); ++r)
            for (size_t c = 0; c < variables.shape(0); ++c)
                if (states(r, c) < -1 || states(r, c) >= tree.sizes[variables(c)])
                    throw nb::value_error("a state is out of range");
    }
    Evidence evidence;
};

void make_tree(CliqueTree* self, const In<int64_t>& sizes, const TreeArrays& arrays, const In<int64_t>& factor_offsets,
               const In<int32_t>& factor_variables, const In<int64_t>& factor_starts, const In<double>& factor_values) {
    const auto& [offsets, variables, parents, home] = arrays;
    const size_t n = sizes.shape(0), cliques = parents.shape(0);
    check_offsets(view(offsets), variables.shape(0), "clique offsets and variables disagree");
    check_offsets(view(factor_offsets), factor_variables.shape(0), "factor offsets and variables disagree");
    check_offsets(view(factor_starts), factor_values.shape(0), "factor starts and values disagree");
    if (offsets.shape(0) != cliques + 1 || home.shape(0) != n || factor_starts.shape(0) != factor_offsets.shape(0))
        throw nb::value_error("cliques, variables and factors disagree in number");
    check_ids(view(variables), 0, n, "a clique has an unknown variable");
    check_ids(view(parents), -1, cliques, "a clique has an unknown parent");
    check_ids(view(home), 0, cliques, "a variable has an unknown clique");
    check_ids(view(factor_variables), 0, n, "a factor has an unknown variable");
    for (const double value : view(factor_values))
        if (!(value >= 0.0) || std::isinf(value)) throw nb::value_error("a factor is negative or not finite");
    CliqueTreeArrays tree{{offsets.data(), offsets.data() + offsets.shape(0)},
                          {variables.data(), variables.data() + variables.shape(0)},
                          {parents.data(), parents.data() + cliques},
                          {home.data(), home.data() + n}};
    new (self) CliqueTree(checked_sizes(sizes), std::move(tree),
                          {view(factor_offsets), view(factor_variables), view(factor_starts), view(factor_values)});
}

nb::tuple to_python(RowMargins&& found, size_t rows) {
    const size_t width = rows == 0 ? 0 : found.margins.size() / rows;
    return nb::make_tuple(to_numpy(std::move(found.log_values)), to_numpy(std::move(found.margins), rows, width));
}

nb::tuple to_python(BestStates&& found, size_t rows) {
    const size_t width = rows == 0 ? 0 : found.states.size() / rows;
    return nb::make_tuple(to_numpy(std::move(found.log_values)), to_numpy(std::move(found.states), rows, width));
}

template <typename State>
struct CheckedColumns {
    CheckedColumns(const std::vector<In<State>>& given, const In<int64_t>& sizes_given) : sizes(checked_sizes(sizes_given)) {
        if (given.size() != sizes.size() || given.empty()) throw nb::value_error("columns and sizes disagree in number");
        data = {{}, sizes, given[0].shape(0)};
        for (size_t v = 0; v < given.size(); ++v) {
            if (given[v].shape(0) != data.rows) throw nb::value_error("columns have different lengths");
            data.columns.push_back(given[v].data());
            int64_t low = 0, high = -1;
            unlocked([&] {
                State least = 0, most = 0;
                for (size_t r = 0; r < data.rows; ++r) {
                    least = std::min(least, given[v].data()[r]);
                    most = std::max(most, given[v].data()[r]);
                }
                low = least;
                high = most;
            });
            if (low < 0 || high >= sizes[v]) throw nb::value_error("a state is out of range");
        }
    }
    std::vector<int64_t> sizes;
    StateColumns<State> data;
};

// The tables of several scopes, one after the other.
template <typename State>
Out<double> count_scopes(const std::vector<In<State>>& columns, const In<int64_t>& sizes, const In<int64_t>& offsets,
                         const In<int32_t>& variables, const std::optional<In<double>>& weights, size_t threads) {
    const CheckedColumns<State> checked(columns, sizes);
    check_offsets(view(offsets), variables.shape(0), "scope offsets and variables disagree");
    check_ids(view(variables), 0, columns.size(), "a scope has an unknown variable");
    if (weights && weights->shape(0) != checked.data.rows) throw nb::value_error("rows and weights disagree in number");
    const size_t n = offsets.shape(0) - 1;
    std::vector<size_t> starts(1, 0);
    for (size_t i = 0; i < n; ++i) {
        double cells = 1.0;
        for (int64_t k = offsets(i); k < offsets(i + 1); ++k) cells *= static_cast<double>(checked.sizes[variables(k)]);
        if (cells + static_cast<double>(starts.back()) > 1e12) throw nb::value_error("the tables have too many cells");
        starts.push_back(starts.back() + static_cast<size_t>(cells));
    }
    std::vector<double> counts(starts.back(), 0.0);
    unlocked([&] {
        const size_t parts = useful_threads(threads, n);
        in_parallel(parts, [&](size_t part) {
            for (size_t i = part; i < n; i += parts)
                count_cells(checked.data, {variables.data() + offsets(i), static_cast<size_t>(offsets(i + 1) - offsets(i))},
                            weights ? weights->data() : nullptr, counts.data() + starts[i]);
        });
    });
    return to_numpy(std::move(counts));
}

template <typename State>
Out2<double> information(const std::vector<In<State>>& columns, const In<int64_t>& sizes, size_t threads) {
    const CheckedColumns<State> checked(columns, sizes);
    return to_numpy(unlocked([&] { return mutual_information(checked.data, threads); }), columns.size(), columns.size());
}

template <typename State>
void bind_counting_of(nb::module_& m) {
    m.def("count_scopes", &count_scopes<State>, nb::arg("columns"), nb::arg("sizes"), nb::arg("offsets"), nb::arg("variables"),
          nb::arg("weights").none(), nb::arg("threads"),
          "How many rows (or what weight) each cell has, for the tables of several scopes, one after the other.");
    m.def("mutual_information", &information<State>, nb::arg("columns"), nb::arg("sizes"), nb::arg("threads"),
          "Rows times the mutual information of all pairs of columns, in nats; the diagonal is rows times the entropy.");
}

void bind_clique_tree(nb::module_& m) {
    nb::class_<CliqueTree>(m, "CliqueTree", "A product of factors on a clique tree.")
        .def("__init__", &make_tree, nb::arg("sizes"), nb::arg("tree"), nb::arg("factor_offsets"), nb::arg("factor_variables"),
             nb::arg("factor_starts"), nb::arg("factor_values"))
        .def(
            "log_sums",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads) {
                const CheckedEvidence given(tree, variables, states);
                return to_numpy(unlocked([&] { return log_sums(tree, given.evidence, threads); }));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"), "log of the sum of the scores that agree with each row.")
        .def(
            "margins",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads) {
                const CheckedEvidence given(tree, variables, states);
                return to_python(unlocked([&] { return margins(tree, given.evidence, threads); }), given.evidence.rows);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
            "The log sums, and P(state | row) of all states of all variables.")
        .def(
            "first_clique",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads) {
                const CheckedEvidence given(tree, variables, states);
                return to_python(unlocked([&] { return first_clique(tree, given.evidence, threads); }), given.evidence.rows);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
            "The log sums, and P(cell | row) of all cells of the first clique.")
        .def(
            "most_likely",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads) {
                const CheckedEvidence given(tree, variables, states);
                return to_python(unlocked([&] { return most_likely(tree, given.evidence, threads); }), given.evidence.rows);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"), "The log of the best score and its states, by row.")
        .def(
            "draw",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, size_t n, uint64_t seed) {
                const CheckedEvidence given(tree, variables, states);
                if (given.evidence.rows != 1) throw nb::value_error("draws need one row of evidence");
                return to_python(unlocked([&] { return draw(tree, given.evidence, n, seed); }), n);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("n"), nb::arg("seed"), "n draws given one row.")
        .def(
            "expected",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states, const In<double>& weights) {
                const CheckedEvidence given(tree, variables, states);
                if (weights.shape(0) != given.evidence.rows) throw nb::value_error("rows and weights disagree in number");
                RowMargins found = unlocked([&] { return expected(tree, given.evidence, view(weights)); });
                return to_tuple(std::move(found.log_values), std::move(found.margins));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("weights"),
            "The log sums, and the sum over rows of weight P(cell | row) of all cells of all cliques.")
        .def(
            "entropy",
            [](const CliqueTree& tree, const In<int32_t>& variables, const In2<int32_t>& states) {
                const CheckedEvidence given(tree, variables, states);
                if (given.evidence.rows != 1) throw nb::value_error("the entropy needs one row of evidence");
                return unlocked([&] { return entropy(tree, given.evidence); });
            },
            nb::arg("variables"), nb::arg("states"), "The entropy of all variables given one row.");
}

}  // namespace

void bind_graphs(nb::module_& m) {
    m.def(
        "eliminate", &eliminated, nb::arg("sizes"), nb::arg("edges"), nb::arg("last"), nb::arg("tries"), nb::arg("seed"),
        "The best elimination order found: ((clique offsets, variables, parents, home clique of each variable), order, cells of "
        "all cliques, added edges).");
    bind_counting_of<uint8_t>(m);
    bind_counting_of<int32_t>(m);
    m.def(
        "count_bytes",
        [](const In<uint8_t>& bytes) {
            std::vector<int64_t> counts(256, 0);
            unlocked([&] { count_bytes(bytes.data(), bytes.shape(0), counts.data()); });
            return to_numpy(std::move(counts));
        },
        nb::arg("bytes"), "How often each byte occurs.");
    m.def(
        "pack_bytes",
        [](const In<int64_t>& numbers) -> nb::object {
            std::vector<uint8_t> bytes(numbers.shape(0));
            if (!unlocked([&] { return pack_bytes(numbers.data(), bytes.size(), bytes.data()); })) return nb::none();
            return nb::cast(to_numpy(std::move(bytes)));
        },
        nb::arg("numbers"), "The numbers as bytes, None if one is not from 0 to 255.");
    bind_clique_tree(m);
}
