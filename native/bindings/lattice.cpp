// Binds chain/lattice.h and chain/forward_backward.h.
#include "chain/lattice.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/checked_lattice.h"
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
    nb::class_<EdgeFeatureWeights>(m, "EdgeFeatureWeights", "The scores of edge features for label pairs y (K + 1) + y'.")
        .def(nb::init<In<int64_t>, In<int32_t>, In<float>>(), nb::arg("offsets"), nb::arg("pairs"), nb::arg("scores"))
        .def(
            "at",
            [](const EdgeFeatureWeights& weights, int64_t feature, int32_t pair) {
                if (feature < 0 || feature >= static_cast<int64_t>(weights.size())) throw nb::index_error("feature out of range");
                const int32_t* first = weights.pairs.data() + weights.offsets(feature);
                const int32_t* last = weights.pairs.data() + weights.offsets(feature + 1);
                const int32_t* found = std::lower_bound(first, last, pair);
                return found != last && *found == pair ? weights.scores(found - weights.pairs.data()) : 0.0f;
            },
            nb::arg("feature"), nb::arg("pair"), "The score of a feature for a label pair; 0 if none is stored.");
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
