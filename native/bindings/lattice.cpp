// Binds chain/lattice.h and chain/forward_backward.h.
#include "chain/lattice.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/checked_lattice.h"
#include "bindings/label_counts.h"
#include "chain/forward_backward.h"

namespace {

// Scores of label triples: (row offsets by first label, pairs of the second and third label, scores).
using TripleArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, In<float>>>;

void use_triples(const TripleArrays& arrays, Edges& edges) {
    if (!arrays) return;
    const auto& [offsets, pairs, scores] = *arrays;
    if (edges.local) throw nb::value_error("edges that are normalised locally cannot have scores of label triples");
    if (pairs.shape(0) != scores.shape(0)) throw nb::value_error("label triples and their scores disagree");
    check_triples({view(offsets), view(pairs)}, static_cast<size_t>(edges.n_labels));
    edges.triples = Triples(offsets.data(), pairs.data(), static_cast<size_t>(edges.n_labels));
    edges.triple_scores.assign(scores.data(), scores.data() + scores.size());
}

}  // namespace

void bind_lattice(nb::module_& m) {
    nb::class_<Edges>(m, "Edges", "Edge scores of a chain, dense or sparse.")
        .def_static(
            "dense",
            [](const In2<float>& scores, bool local, const TripleArrays& triples) {
                if (scores.shape(0) != scores.shape(1) || scores.shape(0) < 1)
                    throw nb::value_error("dense edge scores must be a (K + 1, K + 1) array");
                Edges e;
                e.n_labels = static_cast<int32_t>(scores.shape(0)) - 1;
                e.dense.assign(scores.data(), scores.data() + scores.size());
                e.local = local;
                use_triples(triples, e);
                return e;
            },
            nb::arg("scores"), nb::arg("local") = false, nb::arg("triples") = nb::none())
        .def_static(
            "sparse",
            [](const In<int64_t>& offsets, const In<int32_t>& to, const In<float>& scores, const In<float>& row,
               const In<float>& col, float weight, bool local, const TripleArrays& triples) {
                const size_t size = row.shape(0);
                if (size < 1 || offsets.shape(0) != size + 1 || col.shape(0) != size || to.shape(0) != scores.shape(0))
                    throw nb::value_error("sparse edge arrays disagree");
                check_offsets(view(offsets), to.shape(0), "edge offsets and labels disagree");
                check_rising(view(offsets), view(to), size, "edge labels are out of range or out of order");
                Edges e;
                e.n_labels = static_cast<int32_t>(size) - 1;
                e.offsets.assign(offsets.data(), offsets.data() + offsets.size());
                e.to.assign(to.data(), to.data() + to.size());
                e.scores.assign(scores.data(), scores.data() + scores.size());
                e.row.assign(row.data(), row.data() + size);
                e.col.assign(col.data(), col.data() + size);
                e.weight = weight;
                e.local = local;
                use_triples(triples, e);
                return e;
            },
            nb::arg("offsets"), nb::arg("to"), nb::arg("scores"), nb::arg("row"), nb::arg("col"), nb::arg("weight"),
            nb::arg("local") = false, nb::arg("triples") = nb::none())
        .def(
            "at",
            [](const Edges& edges, int32_t y, int32_t z) {
                if (y < 0 || z < 0 || y > edges.n_labels || z > edges.n_labels) throw nb::index_error("label id out of range");
                return edges.at(y, z);
            },
            nb::arg("y"), nb::arg("z"))
        .def(
            "triple",
            [](const Edges& edges, int32_t y, int32_t z, int32_t w) {
                if (std::min({y, z, w}) < 0 || std::max({y, z, w}) > edges.n_labels)
                    throw nb::index_error("label id out of range");
                return edges.at(y, z, w);
            },
            nb::arg("y"), nb::arg("z"), nb::arg("w"))
        .def(
            "without",
            [](const Edges& edges, const In<uint8_t>& forbidden) -> std::optional<Edges> {
                if (forbidden.shape(0) != edges.pairs().size()) throw nb::value_error("limits and label pairs disagree");
                if (edges.dense.empty() || edges.local || !edges.triples.empty()) return std::nullopt;
                Edges found = edges;
                for (size_t i = 0; i < found.dense.size(); ++i)
                    if (forbidden(i)) found.dense[i] = -INFINITY;
                return found;
            },
            nb::arg("forbidden"),
            "The same edges with a score of minus infinity for some label pairs. None if that is not how they can be limited: if "
            "they are sparse, normalised locally, or have scores of label triples.")
        .def_ro("n_labels", &Edges::n_labels)
        .def_ro("local", &Edges::local);
    nb::class_<WordPairsHandle>(m, "WordPairs", "The probabilities of label pairs given pairs of words.")
        .def(
            "__init__",
            [](WordPairsHandle* self, const In<int32_t>& first, const In<int32_t>& second, const LabelCountArrays& counts,
               const In<int32_t>& class_of, size_t n_labels) {
                new (self) WordPairsHandle{
                    std::make_shared<const WordPairs>(view(first), view(second), view(counts), view(class_of), n_labels)};
            },
            nb::arg("first"), nb::arg("second"), nb::arg("counts"), nb::arg("class_of"), nb::arg("n_labels"))
        .def(
            "find",
            [](const WordPairsHandle& words, WordPairs::Side first, WordPairs::Side second) {
                return words.table->find(first, second);
            },
            nb::arg("first"), nb::arg("second"),
            "The row of a pair, -1 if there is none. A side is 0 for the boundary, 2 w + 2 for word w, and 2 c + 1 for class c.")
        .def(
            "rows",
            [](const WordPairsHandle& words) {
                SparseRows rows = words.table->rows();
                return to_tuple(std::move(rows.offsets), std::move(rows.labels), std::move(rows.scores));
            },
            "log P of label pairs: (offsets, pairs y (K + 1) + y', scores).");
    nb::class_<EdgeFeatureWeights>(m, "EdgeFeatureWeights", "The scores of edge features for label pairs y (K + 1) + y'.")
        .def(nb::init<In<int64_t>, In<int32_t>, In<float>>(), nb::arg("offsets"), nb::arg("pairs"), nb::arg("scores"))
        .def(nb::init<const WordPairsHandle&, float, float, float>(), nb::arg("words"), nb::arg("scale"), nb::arg("floor"),
             nb::arg("forbidden"), "The scores of pairs of words, which replace those of edges.")
        .def(
            "at",
            [](const EdgeFeatureWeights& weights, int64_t feature, int32_t pair) {
                if (feature < 0 || feature >= static_cast<int64_t>(weights.size())) throw nb::index_error("feature out of range");
                return weights.at(feature, pair);
            },
            nb::arg("feature"), nb::arg("pair"),
            "The score of a feature for a label pair. If none is stored, 0, or the floor of pairs of words.")
        .def("scaled", &EdgeFeatureWeights::scaled, nb::arg("factor"), "The same with all scores multiplied.")
        .def_prop_ro(
            "forbidden",
            [](const EdgeFeatureWeights& weights) -> std::optional<float> {
                return weights.word_pairs.used ? std::optional(weights.word_pairs.forbidden) : std::nullopt;
            },
            "The edge score up to which edges are kept, if the features are pairs of words; otherwise None.");
    m.def(
        "viterbi",
        [](const In<int64_t>& sentences, const In<int64_t>& offsets, const In<int32_t>& labels, const In<float>& scores,
           const Edges& edges, const ExtraArrays& extra, size_t threads) {
            const CheckedLattice lattice(sentences, offsets, labels, scores, edges, extra);
            std::vector<int32_t> best(offsets.shape(0) - 1);
            std::vector<float> totals(lattice.size());
            lattice.in_ranges(threads, [&](size_t first, size_t last) {
                Viterbi viterbi;
                for (size_t s = first; s < last; ++s)
                    totals[s] = viterbi.decode(lattice.sentence(s), edges, best.data() + lattice.sentences[s]);
            });
            return to_tuple(std::move(best), std::move(totals));
        },
        nb::arg("sentences"), nb::arg("offsets"), nb::arg("labels"), nb::arg("scores"), nb::arg("edges"),
        nb::arg("extra") = nb::none(), nb::arg("threads") = 1,
        "The best label of each position and the best score of each sentence.");
    m.def(
        "forward_backward",
        [](const In<int64_t>& sentences, const In<int64_t>& offsets, const In<int32_t>& labels, const In<float>& scores,
           const Edges& edges, const ExtraArrays& extra, bool with_pairs, size_t threads) {
            const CheckedLattice lattice(sentences, offsets, labels, scores, edges, extra);
            const std::vector<size_t> places = lattice.pair_places();
            std::vector<float> marginals(labels.shape(0)), pairs(with_pairs ? places.back() : 0);
            std::vector<double> log_z(lattice.size());
            lattice.in_ranges(threads, [&](size_t first, size_t last) {
                ForwardBackward pass;
                for (size_t s = first; s < last; ++s)
                    log_z[s] = pass.run(lattice.sentence(s), edges, marginals.data() + lattice.offsets[lattice.sentences[s]],
                                        with_pairs ? pairs.data() + places[s] : nullptr);
            });
            return to_tuple(std::move(log_z), std::move(marginals), std::move(pairs));
        },
        nb::arg("sentences"), nb::arg("offsets"), nb::arg("labels"), nb::arg("scores"), nb::arg("edges"),
        nb::arg("extra") = nb::none(), nb::arg("with_pairs") = false, nb::arg("threads") = 1,
        "log Z of each sentence, P(label) of each candidate and, with with_pairs=True, P(label, label) of neighbouring "
        "candidates.");
}
