// Binds native/inference: elimination orders, clique trees, and messages.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "inference/clique_queries.h"
#include "inference/edge_beliefs.h"
#include "inference/elimination.h"
#include "inference/messages.h"

namespace {

using In3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
// Scores of nodes, left and right ends, tables of edges, scores of tables, and their weights.
using FieldArrays = std::tuple<In2<double>, In<int32_t>, In<int32_t>, In<int32_t>, In2<double>, In<double>>;

PairwiseField field_of(const FieldArrays& arrays) {
    const auto& [nodes, left, right, table, tables, weights] = arrays;
    return {view(nodes), view(left), view(right), view(table), view(tables), view(weights)};
}
Array<double> messages_of(const In3& messages) { return {messages.data(), messages.size(), std::make_shared<In3>(messages)}; }

nb::tuple bound_pass_messages(const FieldArrays& arrays, const std::optional<In3>& messages, bool maximum, double damping,
                              double tolerance, int sweeps, bool labels, bool log_z, size_t threads) {
    const PairwiseField field = field_of(arrays);
    const MessageOptions options{maximum, damping, tolerance, sweeps, labels || maximum, log_z, threads};
    std::optional<Array<double>> begin;
    if (messages) begin = messages_of(*messages);
    MessageResult found = unlocked([&] { return pass_messages(field, options, begin); });
    return to_tuple(std::move(found.marginals), std::move(found.messages), std::move(found.labels), std::move(found.log_z),
                    std::move(found.sweeps), std::move(found.change), std::move(found.component), std::move(found.on_loop));
}

using TreeArrays = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>, In<int32_t>>;  // offsets, variables, parents, home

template <typename T>
std::vector<T> copied(const In<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

nb::tuple eliminated(const In<int64_t>& sizes, const In2<int32_t>& edges, const In<uint8_t>& last, int tries, uint64_t seed) {
    if (edges.shape(1) != 2) throw nb::value_error("edges must be pairs");
    const EliminationGraph graph(view(sizes), {edges.data(), edges.size()}, view(last));
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

void make_tree(CliqueTree* self, const In<int64_t>& sizes, const TreeArrays& arrays, const In<int64_t>& factor_offsets,
               const In<int32_t>& factor_variables) {
    const auto& [offsets, variables, parents, home] = arrays;
    new (self) CliqueTree(copied(sizes), {copied(offsets), copied(variables), copied(parents), copied(home)},
                          {copied(factor_offsets), copied(factor_variables)});
}

// Asks work(question) about rows of evidence, without the GIL.
template <typename Values, typename Work>
auto ask(const CliqueTree& tree, const Values& values, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads,
         Work work) {
    if (states.shape(1) != variables.shape(0)) throw nb::value_error("evidence and variables disagree in number");
    const Question question{tree, values, {view(variables), states.data(), states.shape(0)}, threads};
    return unlocked([&] {
        question.evidence.check(tree);
        return work(question);
    });
}
template <typename Work>
auto ask(const PotentialValues& values, const In<int32_t>& variables, const In2<int32_t>& states, size_t threads, Work work) {
    return ask(values.tree(), &values, variables, states, threads, work);
}
// The same where each row has its own logarithms of the values of factors.
template <typename Number, typename Work>
auto ask(const CliqueTree& tree, const In2<Number>& logs, const In<int32_t>& variables, const In2<int32_t>& states,
         size_t threads, Work work) {
    if (logs.shape(0) != states.shape(0) || static_cast<int64_t>(logs.shape(1)) != tree.factor_cells())
        throw nb::value_error("values, factors and rows disagree in number");
    return ask(tree, RowLogs<Number>{logs.data()}, variables, states, threads, work);
}

template <typename First, typename Second>
nb::tuple to_python(std::vector<First>&& values, std::vector<Second>&& table, size_t rows) {
    const size_t width = rows == 0 ? 0 : table.size() / rows;
    return nb::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(table), rows, width));
}
nb::tuple to_python(RowMargins&& found, size_t rows) {
    return to_python(std::move(found.log_values), std::move(found.margins), rows);
}
nb::tuple to_python(BestStates&& found, size_t rows) {
    return to_python(std::move(found.log_values), std::move(found.states), rows);
}

template <typename Number>
void bind_row_questions(nb::class_<CliqueTree>& tree) {
    tree.def(
        "expectations",
        [](const CliqueTree& self, const In2<Number>& logs, const In<int32_t>& variables, const In2<int32_t>& states,
           size_t threads) {
            auto found = ask(self, logs, variables, states, threads, expectations<Number>);
            return to_python(std::move(found.log_values), std::move(found.factors), states.shape(0));
        },
        nb::arg("logs"), nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
        "The log sum of each row, and P(cell | row) of all cells of all factors. Each row has the logarithms of its factors.");
    tree.def(
        "most_likely",
        [](const CliqueTree& self, const In2<Number>& logs, const In<int32_t>& variables, const In2<int32_t>& states,
           size_t threads) { return to_python(ask(self, logs, variables, states, threads, most_likely), states.shape(0)); },
        nb::arg("logs"), nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
        "The log of the best score and its states, by row. Each row has the logarithms of its factors.");
}

void bind_factor_values(nb::module_& m) {
    using Variables = In<int32_t>;
    using States = In2<int32_t>;
    using Self = const PotentialValues&;
    nb::class_<PotentialValues>(m, "FactorValues", "The values of the factors of a clique tree, for rows of evidence.")
        .def(
            "__init__",
            [](PotentialValues* self, const CliqueTree& tree, const In<double>& values, bool logs) {
                new (self) PotentialValues(tree, view(values), logs);
            },
            nb::keep_alive<1, 2>(), nb::arg("tree"), nb::arg("values"), nb::arg("logs"))
        .def(
            "log_sums",
            [](Self self, const Variables& variables, const States& states, size_t threads) {
                return to_numpy(ask(self, variables, states, threads, log_sums));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"), "log of the sum of the scores that agree with each row.")
        .def(
            "margins",
            [](Self self, const Variables& variables, const States& states, size_t threads) {
                return to_python(ask(self, variables, states, threads, margins), states.shape(0));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
            "The log sums, and P(state | row) of all states of all variables.")
        .def(
            "first_clique",
            [](Self self, const Variables& variables, const States& states, size_t threads) {
                return to_python(ask(self, variables, states, threads, first_clique), states.shape(0));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"),
            "The log sums, and P(cell | row) of all cells of the first clique.")
        .def(
            "most_likely",
            [](Self self, const Variables& variables, const States& states, size_t threads) {
                return to_python(ask(self, variables, states, threads, most_likely), states.shape(0));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("threads"), "The log of the best score and its states, by row.")
        .def(
            "draw",
            [](Self self, const Variables& variables, const States& states, size_t n, uint64_t seed) {
                if (states.shape(0) != 1) throw nb::value_error("draws need one row of evidence");
                return to_python(ask(self, variables, states, 1, [&](const Question& q) { return draw(q, n, seed); }), n);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("n"), nb::arg("seed"), "n draws given one row.")
        .def(
            "expected",
            [](Self self, const Variables& variables, const States& states, const In<double>& weights) {
                if (weights.shape(0) != states.shape(0)) throw nb::value_error("rows and weights disagree in number");
                RowMargins found = ask(self, variables, states, 1, [&](const Question& q) { return expected(q, view(weights)); });
                return to_tuple(std::move(found.log_values), std::move(found.margins));
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("weights"),
            "The log sums, and the sum over rows of weight P(cell | row) of all cells of all cliques.")
        .def(
            "entropy",
            [](Self self, const Variables& variables, const States& states) {
                if (states.shape(0) != 1) throw nb::value_error("the entropy needs one row of evidence");
                return ask(self, variables, states, 1, entropy);
            },
            nb::arg("variables"), nb::arg("states"), "The entropy of all variables given one row.");
}

}  // namespace

void bind_inference(nb::module_& m) {
    m.def(
        "eliminate", &eliminated, nb::arg("sizes"), nb::arg("edges"), nb::arg("last"), nb::arg("tries"), nb::arg("seed"),
        "The best elimination order found: ((clique offsets, variables, parents, home clique of each variable), order, cells of "
        "all cliques, added edges).");
    nb::class_<CliqueTree> tree(m, "CliqueTree", "The variables of some factors on a clique tree.");
    tree.def("__init__", &make_tree, nb::arg("sizes"), nb::arg("tree"), nb::arg("factor_offsets"), nb::arg("factor_variables"));
    bind_row_questions<double>(tree);
    bind_row_questions<float>(tree);
    bind_factor_values(m);
    m.def(
        "components",
        [](size_t nodes, const In<int32_t>& left, const In<int32_t>& right) {
            FieldGraph graph = unlocked([&] { return FieldGraph(nodes, view(left), view(right)); });
            return to_tuple(std::move(graph.component), std::move(graph.tree));
        },
        nb::arg("nodes"), nb::arg("left"), nb::arg("right"),
        "The connected component of each node, by its first node, and whether each component is a tree.");
    m.def("pass_messages", &bound_pass_messages, nb::arg("field"), nb::arg("messages").none(), nb::arg("maximum"),
          nb::arg("damping"), nb::arg("tolerance"), nb::arg("sweeps"), nb::arg("labels"), nb::arg("log_z"), nb::arg("threads"),
          "Log marginals (nodes, labels), log messages (edges, 2, labels), labels, and by component log Z, sweeps and the last "
          "change; then the component of each node, and whether each edge is in one with a loop. Arrays are flat.");
    m.def(
        "edge_marginals",
        [](const FieldArrays& arrays, const In2<double>& marginals, const In3& messages, const In<uint8_t>& on_loop,
           const In<int32_t>& edges, size_t threads) {
            const PairwiseField field = field_of(arrays);
            const FieldBeliefs beliefs{view(marginals), messages_of(messages), view(on_loop)};
            return to_numpy(unlocked([&] { return edge_marginals(field, beliefs, view(edges), threads); }));
        },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("edges"), nb::arg("threads"),
        "Joint marginals of the ends of some edges, flat: (edges, labels, labels).");
    m.def(
        "edge_sums",
        [](const FieldArrays& arrays, const In2<double>& marginals, const In3& messages, const In<uint8_t>& on_loop,
           const In<double>& weights, size_t threads) {
            const PairwiseField field = field_of(arrays);
            const FieldBeliefs beliefs{view(marginals), messages_of(messages), view(on_loop)};
            return to_numpy(unlocked([&] { return edge_sums(field, beliefs, view(weights), threads); }));
        },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("weights"), nb::arg("threads"),
        "Joint marginals of the ends of edges, with weights, added up by table, flat: (tables, labels, labels).");
}
