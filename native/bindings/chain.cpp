// Binds chain/lattice_batch.h.
#include "bindings/bindings.h"
#include "bindings/views.h"

namespace {

void bind_edges(nb::module_& m) {
    nb::class_<Edges>(m, "Edges", "Edge scores of a chain, dense or sparse.")
        .def_static("dense", &dense_edges, "scores"_a, "local"_a = false, "triples"_a = nb::none())
        .def_static(
            "sparse",
            [](const Array<int64_t>& offsets, const Array<int32_t>& to, const Array<float>& scores, const Array<float>& row,
               const Array<float>& col, float weight, bool local, const std::optional<TripleScores>& triples) {
                return sparse_edges({offsets, to}, scores, row, col, weight, local, triples);
            },
            "offsets"_a, "to"_a, "scores"_a, "row"_a, "col"_a, "weight"_a, "local"_a = false, "triples"_a = nb::none())
        .def(
            "at", [](const Edges& edges, int32_t y, int32_t z) { return edges.at(edges.checked(y), edges.checked(z)); }, "y"_a,
            "z"_a)
        .def(
            "triple",
            [](const Edges& edges, int32_t y, int32_t z, int32_t w) {
                return edges.at(edges.checked(y), edges.checked(z), edges.checked(w));
            },
            "y"_a, "z"_a, "w"_a)
        .def(
            "without", &edges_without, "forbidden"_a,
            "The same edges with a score of minus infinity for some label pairs. None if that is not how they can be limited: if "
            "they are sparse, normalised locally, or have scores of label triples.")
        .def_ro("n_labels", &Edges::n_labels)
        .def_ro("local", &Edges::local);
}

void bind_word_pairs(nb::module_& m) {
    nb::class_<WordPairsHandle>(m, "WordPairs", "The probabilities of label pairs given pairs of words.")
        .def(
            "__init__",
            [](WordPairsHandle* self, const Array<int32_t>& first, const Array<int32_t>& second, const LabelCounts& counts,
               const Array<int32_t>& class_of, size_t n_labels) {
                new (self) WordPairsHandle{std::make_shared<const WordPairs>(first, second, counts, class_of, n_labels)};
            },
            "first"_a, "second"_a, "counts"_a, "class_of"_a, "n_labels"_a)
        .def(
            "find",
            [](const WordPairsHandle& words, WordPairs::Side first, WordPairs::Side second) {
                return words.table->find(first, second);
            },
            "first"_a, "second"_a,
            "The row of a pair, -1 if there is none. A side is 0 for the boundary, 2 w + 2 for word w, and 2 c + 1 for class c.")
        .def(
            "rows", [](const WordPairsHandle& words) { return SparseRows(words.table->rows()); },
            "log P of label pairs: (offsets, pairs y (K + 1) + y', scores).");
}

void bind_edge_features(nb::module_& m) {
    nb::class_<EdgeFeatureWeights>(m, "EdgeFeatureWeights", "The scores of edge features for label pairs y (K + 1) + y'.")
        .def(
            "__init__",
            [](EdgeFeatureWeights* self, const Array<int64_t>& offsets, const Array<int32_t>& pairs, const Array<float>& scores) {
                new (self) EdgeFeatureWeights({offsets, pairs}, scores);
            },
            "offsets"_a, "pairs"_a, "scores"_a)
        .def(
            "__init__",
            [](EdgeFeatureWeights* self, const WordPairsHandle& words, float scale, float floor, float forbidden) {
                new (self) EdgeFeatureWeights(words.table, scale, floor, forbidden);
            },
            "words"_a, "scale"_a, "floor"_a, "forbidden"_a, "The scores of pairs of words, which replace those of edges.")
        .def("at", &EdgeFeatureWeights::at, "feature"_a, "pair"_a,
             "The score of a feature for a label pair. If none is stored, 0, or the floor of pairs of words.")
        .def("scaled", &EdgeFeatureWeights::scaled, "factor"_a, "The same with all scores multiplied.")
        .def_prop_ro("forbidden", &EdgeFeatureWeights::forbidden,
                     "The edge score up to which edges are kept, if the features are pairs of words; otherwise None.");
}

}  // namespace

void bind_chain(nb::module_& m) {
    bind_edges(m);
    bind_word_pairs(m);
    bind_edge_features(m);
    m.def(
        "viterbi",
        [](const Array<int64_t>& sentences, const Array<int64_t>& offsets, const Array<int32_t>& labels,
           const Array<float>& scores, const Edges& edges, const ExtraArrays& extra,
           size_t threads) { return viterbi(lattice_of(sentences, offsets, labels, scores, edges, extra), edges, threads); },
        "sentences"_a, "offsets"_a, "labels"_a, "scores"_a, "edges"_a, "extra"_a = nb::none(), "threads"_a = 1, without_lock,
        "The best label of each position and the best score of each sentence.");
    m.def(
        "forward_backward",
        [](const Array<int64_t>& sentences, const Array<int64_t>& offsets, const Array<int32_t>& labels,
           const Array<float>& scores, const Edges& edges, const ExtraArrays& extra, bool with_pairs, size_t threads) {
            return forward_backward(lattice_of(sentences, offsets, labels, scores, edges, extra), edges, with_pairs, threads);
        },
        "sentences"_a, "offsets"_a, "labels"_a, "scores"_a, "edges"_a, "extra"_a = nb::none(), "with_pairs"_a = false,
        "threads"_a = 1, without_lock,
        "log Z of each sentence, P(label) of each candidate and, with with_pairs=True, P(label, label) of neighbouring "
        "candidates.");
}
