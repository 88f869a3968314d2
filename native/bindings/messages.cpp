// Binds inference/messages.h.
#include "inference/messages.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace {

using In3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
// Scores of nodes, left and right ends, tables of edges, scores of tables, and their weights.
using FieldArrays = std::tuple<In2<double>, In<int32_t>, In<int32_t>, In<int32_t>, In2<double>, In<double>>;

PairwiseField checked(const FieldArrays& arrays) {
    const auto& [nodes, left, right, table, tables, weights] = arrays;
    PairwiseField field{view(nodes), view(left), view(right), view(table), view(tables), view(weights)};
    field.check();
    return field;
}

Array<double> checked(const PairwiseField& field, const In3& messages) {
    if (messages.shape(0) != field.n_edges() || messages.shape(1) != 2 || messages.shape(2) != field.n_labels())
        throw nb::value_error("messages and edges disagree");
    Array<double> values(messages.data(), messages.size(), std::make_shared<In3>(messages));
    for (const double value : values)
        if (!(value < INFINITY)) throw nb::value_error("a message is NaN or infinity");
    return values;
}

Matrix<double> checked_marginals(const PairwiseField& field, const In2<double>& marginals) {
    if (marginals.shape(0) != field.n_nodes() || marginals.shape(1) != field.n_labels())
        throw nb::value_error("marginals and nodes disagree");
    return view(marginals);
}

void check_flags(const PairwiseField& field, const In<uint8_t>& on_loop) {
    if (on_loop.shape(0) != field.n_edges()) throw nb::value_error("flags and edges disagree in number");
    for (const uint8_t flag : view(on_loop))
        if (flag > 1) throw nb::value_error("a flag is neither 0 nor 1");
}

nb::tuple bound_pass_messages(const FieldArrays& arrays, const std::optional<In3>& messages, bool maximum, double damping,
                              double tolerance, int sweeps, bool labels, bool log_z, size_t threads) {
    const PairwiseField field = checked(arrays);
    const MessageOptions options{maximum, damping, tolerance, sweeps, labels || maximum, log_z, threads};
    std::optional<Array<double>> begin;
    if (messages) begin = checked(field, *messages);
    MessageResult found = unlocked([&] { return pass_messages(field, options, begin); });
    return to_tuple(std::move(found.marginals), std::move(found.messages), std::move(found.labels), std::move(found.log_z),
                    std::move(found.sweeps), std::move(found.change), std::move(found.component), std::move(found.on_loop));
}

}  // namespace

void bind_messages(nb::module_& m) {
    m.def("pass_messages", &bound_pass_messages, nb::arg("field"), nb::arg("messages").none(), nb::arg("maximum"),
          nb::arg("damping"), nb::arg("tolerance"), nb::arg("sweeps"), nb::arg("labels"), nb::arg("log_z"), nb::arg("threads"),
          "Log marginals (nodes, labels), log messages (edges, 2, labels), labels, and by component log Z, sweeps and the last "
          "change; then the component of each node, and whether each edge is in one with a loop. Arrays are flat.");
    m.def(
        "edge_marginals",
        [](const FieldArrays& arrays, const In2<double>& marginals, const In3& messages, const In<uint8_t>& on_loop,
           const In<int32_t>& edges, size_t threads) {
            const PairwiseField field = checked(arrays);
            for (const int32_t e : view(edges))
                if (e < 0 || static_cast<size_t>(e) >= field.n_edges()) throw nb::value_error("there is no such edge");
            check_flags(field, on_loop);
            const Matrix<double> beliefs = checked_marginals(field, marginals);
            const Array<double> sent = checked(field, messages);
            return to_numpy(unlocked([&] { return edge_marginals(field, beliefs, sent, view(on_loop), view(edges), threads); }));
        },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("edges"), nb::arg("threads"),
        "Joint marginals of the ends of some edges, flat: (edges, labels, labels).");
    m.def(
        "edge_sums",
        [](const FieldArrays& arrays, const In2<double>& marginals, const In3& messages, const In<uint8_t>& on_loop,
           const In<double>& weights, size_t threads) {
            const PairwiseField field = checked(arrays);
            if (weights.shape(0) != field.n_edges()) throw nb::value_error("weights and edges disagree in number");
            check_flags(field, on_loop);
            const Matrix<double> beliefs = checked_marginals(field, marginals);
            const Array<double> sent = checked(field, messages);
            return to_numpy(unlocked([&] { return edge_sums(field, beliefs, sent, view(on_loop), view(weights), threads); }));
        },
        nb::arg("field"), nb::arg("marginals"), nb::arg("messages"), nb::arg("on_loop"), nb::arg("weights"), nb::arg("threads"),
        "Joint marginals of the ends of edges, with weights, added up by table, flat: (tables, labels, labels).");
}
