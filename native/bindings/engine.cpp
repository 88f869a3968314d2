// Binds decoding/engine.h, decoding/batch.h and decoding/text_tagger.h.
#include "decoding/engine.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/columns.h"
#include "bindings/text.h"
#include "decoding/batch.h"
#include "decoding/text_tagger.h"

namespace {

using AttributeArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>>;  // offsets, ids, values

template <typename T>
std::vector<T> copy_of(const In<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.shape(0));
}

// Copies rows and checks that their labels are ascending and below n_labels.
SparseRows rows_of(const LabelScoreArrays& arrays, size_t n_labels, const char* what) {
    const auto& [offsets, labels, scores] = arrays;
    check_offsets(view(offsets), labels.shape(0), what);
    if (labels.shape(0) != scores.shape(0)) throw nb::value_error(what);
    check_rising(view(offsets), view(labels), n_labels, what);
    return {copy_of(offsets), copy_of(labels), copy_of(scores)};
}

Batch batch_of(const Engine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready) {
    Batch batch{view(columns, sentences), std::nullopt};
    if (ready) {
        const auto& [offsets, ids, values] = *ready;
        batch.ready = Attributes{{view(offsets), view(ids)}, view(values)};
    }
    batch.check(engine);
    return batch;
}

nb::list tag_words(const Engine& engine, nb::sequence words, nb::list names) {
    if (engine.map().n_columns() != 1 || names.size() != engine.n_labels())
        throw nb::value_error("columns or labels do not match the model");
    Session session(engine);
    std::vector<int32_t> ids;
    for (nb::handle word : words) {
        const std::string_view token = utf8_of(word);
        if (token.data() == nullptr) throw nb::type_error("a token is not a string, or cannot be encoded as UTF-8");
        ids.push_back(session.lexicon().id(0, token));
    }
    std::vector<int32_t> best(ids.size());
    const int32_t* columns[1] = {ids.data()};
    session.build(columns, static_cast<int64_t>(ids.size()), false, nullptr, 0);
    session.decode(static_cast<int64_t>(ids.size()), best.data());
    nb::list out;
    for (const int32_t y : best) out.append(names[static_cast<size_t>(y)]);
    return out;
}

nb::tuple tag_text(const Engine& engine, nb::bytes data, const std::vector<std::string>& labels,
                   const std::vector<size_t>& positions, const std::string& separator, const std::string& comment, size_t threads,
                   int64_t first_line) {
    if (positions.size() != engine.map().n_columns() || labels.size() != engine.n_labels() || separator.size() > 1)
        throw nb::value_error("columns, labels or separator do not match the model");
    const std::string_view text = text_of(data);
    std::string out;
    const int64_t tokens =
        unlocked([&] { return TextTagger(engine, labels, positions, separator, comment).run(text, out, first_line, threads); });
    return nb::make_tuple(nb::bytes(out.data(), out.size()), tokens);
}

}  // namespace

void bind_engine(nb::module_& m) {
    nb::class_<Engine>(m, "Engine", "A chain model prepared for tagging.")
        .def(
            "__init__",
            [](Engine* self, const FeatureMap& map, const Edges& edges, const In<float>& bias, size_t word_column,
               const LabelScoreArrays& rows, std::vector<int32_t> rung_functions, std::vector<int64_t> rung_bases,
               const LabelScoreArrays& linear, const LabelScoreArrays& edge_weights, int64_t first_feature, bool all_labels,
               float floor) {
                const auto K = static_cast<size_t>(edges.n_labels);
                const LabelPairs pairs = edges.pairs();
                new (self) Engine(map, edges,
                                  {copy_of(bias), word_column, rows_of(rows, K, "ladder rows are damaged"),
                                   std::move(rung_functions), std::move(rung_bases), rows_of(linear, K, "weights are damaged"),
                                   rows_of(edge_weights, pairs.small() ? pairs.size() : 0, "edge weights are damaged"),
                                   first_feature, all_labels, floor});
            },
            nb::arg("map"), nb::arg("edges"), nb::arg("bias"), nb::arg("word_column"), nb::arg("rows"), nb::arg("rung_functions"),
            nb::arg("rung_bases"), nb::arg("linear"), nb::arg("edge_weights"), nb::arg("first_feature"), nb::arg("all_labels"),
            nb::arg("floor"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "tag_columns",
            [](const Engine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready, size_t threads) {
                const Batch batch = batch_of(engine, columns, sentences, ready);
                return to_numpy(unlocked([&] { return tag(engine, batch, threads); }));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(), nb::arg("threads"),
            "The best label id of each token of a corpus.")
        .def(
            "lattice",
            [](const Engine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready) {
                const Batch batch = batch_of(engine, columns, sentences, ready);
                BatchLattice found = unlocked([&] { return lattice(engine, batch); });
                return to_tuple(std::move(found.offsets), std::move(found.labels), std::move(found.scores),
                                std::move(found.edge_offsets), std::move(found.edge_ids));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(),
            "Candidate labels and node scores of each token, and its edge features: (offsets, labels, scores, offsets, ids).")
        .def("tag_words", &tag_words, nb::arg("words"), nb::arg("names"),
             "The labels of one sentence, for a model that reads one column. `names` are the labels by id.")
        .def("tag_text", &tag_text, nb::arg("data"), nb::arg("labels"), nb::arg("positions"), nb::arg("separator"),
             nb::arg("comment"), nb::arg("threads"), nb::arg("first_line"),
             "The column text with a label appended to each token's line, and the number of tokens.");
}
