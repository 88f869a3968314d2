// Binds native/inference: elimination orders, clique trees, and messages.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "inference/clique_queries.h"
#include "inference/edge_beliefs.h"
#include "inference/elimination.h"
#include "inference/messages.h"

namespace nanobind::detail {

template <>  // scores of nodes, left and right ends, tables of edges, scores of tables, and their weights
struct type_caster<PairwiseField> : fields_caster<PairwiseField, Matrix<double>, Array<int32_t>, Array<int32_t>, Array<int32_t>,
                                                  Matrix<double>, Array<double>> {};
template <>
struct type_caster<MessageResult> : result_caster<MessageResult, &MessageResult::marginals, &MessageResult::messages,
                                                  &MessageResult::labels, &MessageResult::log_z, &MessageResult::sweeps,
                                                  &MessageResult::change, &MessageResult::component, &MessageResult::on_loop> {};
template <>
struct type_caster<CliqueTreeArrays>
    : fields_caster<CliqueTreeArrays, std::vector<int64_t>, std::vector<int32_t>, std::vector<int32_t>, std::vector<int32_t>> {};
template <typename Number>
struct type_caster<RowAnswers<Number>>
    : result_caster<RowAnswers<Number>, &RowAnswers<Number>::log_values, &RowAnswers<Number>::table> {};

}  // namespace nanobind::detail

namespace {

using Variables = Array<int32_t>;
using States = Matrix<int32_t>;

nb::tuple eliminated(const Array<int64_t>& sizes, const States& edges, const Array<uint8_t>& last, int tries, uint64_t seed) {
    require(edges.columns() == 2, "edges must be pairs");
    const EliminationGraph graph(sizes, {edges.row(0), 2 * edges.rows()}, last);
    Elimination found = unlocked([&] { return best_elimination(graph, tries, seed); });
    CliqueTreeArrays tree = clique_tree(found);
    nb::tuple arrays =
        to_tuple(std::move(tree.offsets), std::move(tree.variables), std::move(tree.parents), std::move(tree.home));
    return nb::make_tuple(arrays, std::move(found.order), found.cells, found.added);
}

// A question about rows of evidence, which are checked.
template <typename Values>
Question question_of(const CliqueTree& tree, const Values& values, const Variables& variables, const States& states,
                     size_t threads = 1) {
    require(states.columns() == variables.size(), "evidence and variables disagree in number");
    const Question question{tree, values, {variables, states.row(0), states.rows()}, threads};
    question.evidence.check(tree);
    return question;
}
Question question_of(const PotentialValues& values, const Variables& variables, const States& states, size_t threads = 1) {
    return question_of(values.tree(), &values, variables, states, threads);
}

// Answers to questions: all rows have the same values of factors, or each row has their logarithms.
template <auto answer>
auto of_values(const PotentialValues& values, const Variables& variables, const States& states, size_t threads) {
    return answer(question_of(values, variables, states, threads));
}
template <typename Number, auto answer>
auto of_rows(const CliqueTree& tree, const Matrix<Number>& logs, const Variables& variables, const States& states,
             size_t threads) {
    require(logs.rows() == states.rows() && static_cast<int64_t>(logs.columns()) == tree.factor_cells(),
            "values, factors and rows disagree in number");
    return answer(question_of(tree, RowLogs<Number>{logs.row(0)}, variables, states, threads));
}

template <typename Number>
void bind_row_questions(nb::class_<CliqueTree>& tree) {
    tree.def(
        "expectations", &of_rows<Number, expectations<Number>>, nb::arg("logs"), nb::arg("variables"), nb::arg("states"),
        nb::arg("threads"), without_lock,
        "The log sum of each row, and P(cell | row) of all cells of all factors. Each row has the logarithms of its factors.");
    tree.def("most_likely", &of_rows<Number, most_likely>, nb::arg("logs"), nb::arg("variables"), nb::arg("states"),
             nb::arg("threads"), without_lock,
             "The log of the best score and its states, by row. Each row has the logarithms of its factors.");
}

void bind_factor_values(nb::module_& m) {
    nb::class_<PotentialValues> bound(m, "FactorValues", "The values of the factors of a clique tree, for rows of evidence.");
    const auto ask = [&](const char* name, auto answer, const char* doc) {
        bound.def(name, answer, nb::arg("variables"), nb::arg("states"), nb::arg("threads"), without_lock, doc);
    };
    bound.def(nb::init<const CliqueTree&, std::span<const double>, bool>(), nb::keep_alive<1, 2>(), nb::arg("tree"),
              nb::arg("values"), nb::arg("logs"));
    ask("log_sums", &of_values<log_sums>, "log of the sum of the scores that agree with each row.");
    ask("margins", &of_values<margins>, "The log sums, and P(state | row) of all states of all variables.");
    ask("first_clique", &of_values<first_clique>, "The log sums, and P(cell | row) of all cells of the first clique.");
    ask("most_likely", &of_values<most_likely>, "The log of the best score and its states, by row.");
    bound
        .def(
            "draw",
            [](const PotentialValues& self, const Variables& variables, const States& states, size_t n, uint64_t seed) {
                return draw(question_of(self, variables, states), n, seed);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("n"), nb::arg("seed"), without_lock, "n draws given one row.")
        .def(
            "expected",
            [](const PotentialValues& self, const Variables& variables, const States& states, std::span<const double> weights) {
                return expected(question_of(self, variables, states), weights);
            },
            nb::arg("variables"), nb::arg("states"), nb::arg("weights"), without_lock,
            "The log sums, and the sum over rows of weight P(cell | row) of all cells of all cliques: (1, cells).")
        .def(
            "entropy",
            [](const PotentialValues& self, const Variables& variables, const States& states) {
                return entropy(question_of(self, variables, states));
            },
            nb::arg("variables"), nb::arg("states"), without_lock, "The entropy of all variables given one row.");
}

}  // namespace

void bind_inference(nb::module_& m) {
    m.def(
        "eliminate", &eliminated, nb::arg("sizes"), nb::arg("edges"), nb::arg("last"), nb::arg("tries"), nb::arg("seed"),
        "The best elimination order found: ((clique offsets, variables, parents, home clique of each variable), order, cells of "
        "all cliques, added edges).");
    nb::class_<CliqueTree> tree(m, "CliqueTree", "The variables of some factors on a clique tree.");
    tree.def(
        "__init__",
        [](CliqueTree* self, const std::vector<int64_t>& sizes, const CliqueTreeArrays& arrays,
           const std::vector<int64_t>& factor_offsets, const std::vector<int32_t>& factor_variables) {
            new (self) CliqueTree(sizes, arrays, {factor_offsets, factor_variables});
        },
        nb::arg("sizes"), nb::arg("tree"), nb::arg("factor_offsets"), nb::arg("factor_variables"));
    bind_row_questions<double>(tree);
    bind_row_questions<float>(tree);
    bind_factor_values(m);
    m.def(
        "components",
        [](size_t nodes, const Array<int32_t>& left, const Array<int32_t>& right) {
            FieldGraph graph = unlocked([&] { return FieldGraph(nodes, left, right); });
            return to_tuple(std::move(graph.component), std::move(graph.tree));
        },
        nb::arg("nodes"), nb::arg("left"), nb::arg("right"),
        "The connected component of each node, by its first node, and whether each component is a tree.");
    m.def(
        "pass_messages",
        [](const PairwiseField& field, const std::optional<Array<double>>& messages, bool maximum, double damping,
           double tolerance, int sweeps, bool labels, bool log_z, size_t threads) {
            return pass_messages(field, {maximum, damping, tolerance, sweeps, labels || maximum, log_z, threads}, messages);
        },
        nb::arg("field"), nb::arg("messages").none(), nb::arg("maximum"), nb::arg("damping"), nb::arg("tolerance"),
        nb::arg("sweeps"), nb::arg("labels"), nb::arg("log_z"), nb::arg("threads"), without_lock,
        "Log marginals (nodes, labels), log messages (edges, 2, labels), labels, and by component log Z, sweeps and the last "
        "change; then the component of each node, and whether each edge is in one with a loop. Arrays are flat.");
    m.def(
        "edge_marginals",
        [](const PairwiseField& field, const Matrix<double>& marginals, const Array<double>& messages,
           const Array<uint8_t>& on_loop, std::span<const int32_t> edges,
           size_t threads) { return edge_marginals(field, {marginals, messages, on_loop}, edges, threads); },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("edges"), nb::arg("threads"),
        without_lock, "Joint marginals of the ends of some edges, flat: (edges, labels, labels).");
    m.def(
        "edge_sums",
        [](const PairwiseField& field, const Matrix<double>& marginals, const Array<double>& messages,
           const Array<uint8_t>& on_loop, std::span<const double> weights,
           size_t threads) { return edge_sums(field, {marginals, messages, on_loop}, weights, threads); },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("weights"), nb::arg("threads"),
        without_lock, "Joint marginals of the ends of edges, with weights, added up by table, flat: (tables, labels, labels).");
}
