// Binds chain/shapes/path_graph.h and decoding/path_queries.h: questions about the labellings of sentences.
#include <nanobind/stl/optional.h>
#include <numeric>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/checked_lattice.h"
#include "core/vectors.h"
#include "decoding/one_block.h"
#include "decoding/path_queries.h"

namespace {

using SpanArrays = std::tuple<In<int32_t>, In<uint8_t>, In<uint8_t>>;  // group, opens, closes, by label

SpanLabels spans_of(const SpanArrays& arrays, const Edges& edges) {
    const auto& [group, opens, closes] = arrays;
    const auto n = static_cast<size_t>(edges.n_labels);
    if (group.shape(0) != n || opens.shape(0) != n || closes.shape(0) != n) throw nb::value_error("spans and labels disagree");
    return {group.data(), opens.data(), closes.data()};
}

// The lattices of sentences with the limits of their paths. A graph is built for each question, and not kept.
struct Paths {
    CheckedLattice lattice;
    const Edges& edges;
    std::optional<In<uint8_t>> allowed, forbidden;
    std::optional<SpanArrays> blocks;
    PathLimits limits;
    size_t threads;

    Paths(CheckedLattice&& given, const Edges& edges, std::optional<In<uint8_t>> allowed_, std::optional<In<uint8_t>> forbidden_,
          std::optional<SpanArrays> blocks_, size_t threads)
        : lattice(std::move(given)),
          edges(edges),
          allowed(std::move(allowed_)),
          forbidden(std::move(forbidden_)),
          blocks(std::move(blocks_)),
          threads(threads) {
        if (allowed && allowed->shape(0) != lattice.labels.size()) throw nb::value_error("limits and candidates disagree");
        if (forbidden && forbidden->shape(0) != edges.pairs().size()) throw nb::value_error("limits and label pairs disagree");
        if (allowed) limits.allowed = allowed->data();
        if (forbidden) limits.forbidden = forbidden->data();
        if (!blocks) return;
        limits.blocks = spans_of(*blocks, edges);
        for (int32_t y = 0; y < edges.n_labels; ++y) limits.n_blocks = std::max(limits.n_blocks, limits.blocks.group[y] + 1);
    }

    // Whether a graph cannot keep all groups to one block.
    bool many_blocks() const { return limits.n_blocks > PathLimits::kMostBlocks; }
    size_t length(size_t s) const { return static_cast<size_t>(lattice.sentences[s + 1] - lattice.sentences[s]); }
    int64_t candidate(size_t s) const { return lattice.offsets[static_cast<size_t>(lattice.sentences[s])]; }

    // Calls use(s, graph) for each sentence, on several threads and without the GIL.
    template <typename Use>
    void each(Use use) const {
        if (many_blocks()) throw nb::value_error("too many blocks");
        lattice.in_ranges(threads, [&](size_t first, size_t last) {
            PathGraph graph;
            for (size_t s = first; s < last; ++s) {
                graph.build(lattice.sentence(s), edges, limits);
                use(s, graph);
            }
        });
    }
    // The same for sentences with a path, with P(state).
    template <typename Use>
    void each_summed(double* log_z, Use use) const {
        each([&](size_t s, PathGraph& graph) {
            std::vector<double> p;
            log_z[s] = graph.sum();
            if (!graph.has_path()) return;
            state_probabilities(graph, p);
            use(s, graph, p);
        });
    }
};

nb::tuple best(const Paths& paths) {
    std::vector<int32_t> labels(paths.lattice.offsets.size() - 1, -1);
    std::vector<double> scores(paths.lattice.size(), -INFINITY);
    const auto own = [&](size_t s) { return labels.data() + paths.lattice.sentences[s]; };
    if (paths.many_blocks())
        paths.lattice.in_ranges(paths.threads, [&](size_t first, size_t last) {
            OneBlockDecoder decoder(paths.edges, paths.limits);
            for (size_t s = first; s < last; ++s) scores[s] = decoder.best(paths.lattice.sentence(s), own(s));
        });
    else
        paths.each([&](size_t s, const PathGraph& graph) {
            if (!graph.has_path()) return;
            const BestPaths found(graph);
            scores[s] = found.score(0);
            found.labels(0, own(s));
        });
    return to_tuple(std::move(labels), std::move(scores));
}

// The labels as a list of names.
nb::object named(const int32_t* labels, size_t n, const nb::list& names) {
    nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
    if (!out.is_valid()) throw nb::python_error();
    for (size_t i = 0; i < n; ++i)  // the list takes over a reference
        PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(names[static_cast<size_t>(labels[i])]).release().ptr());
    return out;
}

nb::tuple n_best(const Paths& paths, size_t n, const nb::list& names) {
    const size_t size = paths.lattice.size();
    if (names.size() != static_cast<size_t>(paths.edges.n_labels)) throw nb::value_error("names and labels disagree");
    std::vector<std::vector<int32_t>> labels(size);
    std::vector<std::vector<double>> p(size);
    std::vector<double> log_z(size);
    paths.each([&](size_t s, PathGraph& graph) {
        log_z[s] = graph.sum();
        if (!graph.has_path() || n == 0) return;
        BestPaths found(graph);
        while (found.size() < n && found.next()) continue;
        labels[s].resize(found.size() * paths.length(s));
        for (size_t rank = 0; rank < found.size(); ++rank) {
            p[s].push_back(fast_exp(found.score(rank) - log_z[s]));
            found.labels(rank, labels[s].data() + rank * paths.length(s));
        }
    });
    nb::list all;
    for (size_t s = 0; s < size; ++s) {
        nb::list own;
        for (size_t rank = 0; rank < p[s].size(); ++rank)
            own.append(nb::make_tuple(named(labels[s].data() + rank * paths.length(s), paths.length(s), names), p[s][rank]));
        all.append(own);
    }
    return nb::make_tuple(all, to_numpy(std::move(log_z)));
}

Out<double> through(const Paths& paths) {
    std::vector<double> scores(paths.lattice.labels.size(), -INFINITY);
    paths.each([&](size_t s, const PathGraph& graph) {
        if (!graph.has_path()) return;
        const PathsThrough found(graph);
        for (size_t j = 0; j < graph.n_tokens(); ++j) {
            double* own = scores.data() + paths.lattice.offsets[static_cast<size_t>(paths.lattice.sentences[s]) + j];
            for (size_t v = graph.layer(j + 1); v < graph.layer(j + 2); ++v) {
                double& best = own[graph.state(v).candidate];
                best = std::max(best, found.score(v));
            }
        }
    });
    return to_numpy(std::move(scores));
}

// The paths of sentence s are those from places[s] to places[s + 1], each through a candidate of a token of the sentence.
nb::tuple traces(const Paths& paths, const In<int64_t>& places, const In<int64_t>& tokens, const In<int64_t>& candidates) {
    const size_t n = tokens.shape(0), size = paths.lattice.size();
    const char* message = "paths and sentences disagree";
    if (candidates.shape(0) != n || places.shape(0) != size + 1) throw nb::value_error(message);
    check_offsets(view(places), n, message);
    std::vector<size_t> first(1, 0);  // where the labels of each path start
    for (size_t s = 0; s < size; ++s)
        for (int64_t i = places(s); i < places(s + 1); ++i) {
            if (tokens(i) < 0 || static_cast<size_t>(tokens(i)) >= paths.length(s)) throw nb::value_error("no such token");
            const auto t = static_cast<size_t>(paths.lattice.sentences[s] + tokens(i));
            if (candidates(i) < 0 || candidates(i) >= paths.lattice.offsets[t + 1] - paths.lattice.offsets[t])
                throw nb::value_error("no such candidate");
            first.push_back(first.back() + paths.length(s));
        }
    std::vector<int32_t> labels(first.back(), -1);
    std::vector<double> arcs(first.back() + n, -INFINITY);
    paths.each([&](size_t s, const PathGraph& graph) {
        if (!graph.has_path() || places(s) == places(s + 1)) return;
        const PathsThrough found(graph);
        for (auto i = static_cast<size_t>(places(s)); i < static_cast<size_t>(places(s + 1)); ++i) {
            const size_t v = found.best_state(static_cast<size_t>(tokens(i)), static_cast<size_t>(candidates(i)));
            if (v > 0) found.trace(v, labels.data() + first[i], arcs.data() + first[i] + i);
        }
    });
    return to_tuple(std::move(labels), std::move(arcs));
}

nb::tuple sums(const Paths& paths) {
    std::vector<double> log_z(paths.lattice.size()), entropy(paths.lattice.size());
    paths.each_summed(log_z.data(), [&](size_t s, const PathGraph& graph, const std::vector<double>& p) {
        entropy[s] = path_entropy(graph, p);
    });
    return to_tuple(std::move(log_z), std::move(entropy));
}

nb::tuple marginals(const Paths& paths, bool with_pairs) {
    const CheckedLattice& lattice = paths.lattice;
    const std::vector<size_t> first = lattice.pair_places();
    std::vector<double> log_z(lattice.size()), found(lattice.labels.size()), pairs(with_pairs ? first.back() : 0);
    paths.each_summed(log_z.data(), [&](size_t s, const PathGraph& graph, const std::vector<double>& p) {
        path_marginals(graph, p, lattice.offsets.data() + lattice.sentences[s], found.data() + paths.candidate(s),
                       with_pairs ? pairs.data() + first[s] : nullptr);
    });
    return to_tuple(std::move(log_z), std::move(found), std::move(pairs));
}

// The spans of sentence s are those from places[s] to places[s + 1].
Out<double> span_probabilities(const Paths& paths, const In<int64_t>& places, const In<int64_t>& starts, const In<int64_t>& stops,
                               const In<int32_t>& groups, const SpanArrays& labels) {
    const size_t n = starts.shape(0);
    if (stops.shape(0) != n || groups.shape(0) != n || places.shape(0) != paths.lattice.size() + 1)
        throw nb::value_error("spans and sentences disagree");
    check_offsets(view(places), n, "spans and sentences disagree");
    for (size_t s = 0; s < paths.lattice.size(); ++s)
        for (int64_t i = places(s); i < places(s + 1); ++i)
            if (starts(i) < 0 || starts(i) >= stops(i) || static_cast<size_t>(stops(i)) > paths.length(s))
                throw nb::value_error("a span is out of range");
    const SpanLabels spans = spans_of(labels, paths.edges);
    std::vector<double> found(n), log_z(paths.lattice.size());
    paths.each_summed(log_z.data(), [&](size_t s, const PathGraph& graph, const std::vector<double>& p) {
        for (int64_t i = places(s); i < places(s + 1); ++i)
            found[static_cast<size_t>(i)] =
                span_probability(graph, p, spans, static_cast<size_t>(starts(i)), static_cast<size_t>(stops(i)), groups(i));
    });
    return to_numpy(std::move(found));
}

Out<int32_t> sample(const Paths& paths, size_t n, uint64_t seed) {
    if (n > 0 && paths.lattice.offsets.size() - 1 > SIZE_MAX / 8 / n) throw nb::value_error("too many samples");
    std::vector<int32_t> labels(n * (paths.lattice.offsets.size() - 1), -1);
    paths.each([&](size_t s, PathGraph& graph) {
        graph.sum();
        if (!graph.has_path()) return;
        PathSampler sampler(seed, s);
        int32_t* at = labels.data() + n * static_cast<size_t>(paths.lattice.sentences[s]);
        for (size_t i = 0; i < n; ++i) sampler.draw(graph, at + i * paths.length(s));
    });
    return to_numpy(std::move(labels));
}

}  // namespace

void bind_paths(nb::module_& m) {
    nb::class_<Paths>(m, "Paths", "The labellings of sentences, under constraints.")
        .def(
            "__init__",
            [](Paths* self, const In<int64_t>& sentences, const In<int64_t>& offsets, const In<int32_t>& labels,
               const In<float>& scores, const Edges& edges, const ExtraArrays& extra, const std::optional<In<uint8_t>>& allowed,
               const std::optional<In<uint8_t>>& forbidden, const std::optional<SpanArrays>& blocks, size_t threads) {
                new (self) Paths(CheckedLattice(sentences, offsets, labels, scores, edges, extra), edges, allowed, forbidden,
                                 blocks, threads);
            },
            nb::arg("sentences"), nb::arg("offsets"), nb::arg("labels"), nb::arg("scores"), nb::arg("edges"),
            nb::arg("extra").none(), nb::arg("allowed").none(), nb::arg("forbidden").none(), nb::arg("blocks").none(),
            nb::arg("threads"), nb::keep_alive<1, 6>())
        .def("best", &best,
             "The best label of each token and the score of each sentence; -inf without a path, NaN if the search gave up.")
        .def("n_best", &n_best, nb::arg("n"), nb::arg("names"),
             "The best labellings of each sentence with their probabilities, and log Z of each sentence.")
        .def("through", &through, "The score of the best labelling with each candidate; -inf if there is none.")
        .def("traces", &traces, nb::arg("places"), nb::arg("tokens"), nb::arg("candidates"),
             "The best labellings with some candidates: their labels, and the scores of their arcs, one more than tokens.")
        .def("sums", &sums, "log Z of each sentence and the entropy of its labellings.")
        .def("marginals", &marginals, nb::arg("with_pairs"),
             "log Z of each sentence, P(label) of each candidate, and P(label, label) of neighbouring candidates.")
        .def("span_probabilities", &span_probabilities, nb::arg("places"), nb::arg("starts"), nb::arg("stops"), nb::arg("groups"),
             nb::arg("labels"), "The probability of each span; `places` are offsets of spans by sentence.")
        .def("sample", &sample, nb::arg("n"), nb::arg("seed"), "n labellings of each sentence, one sentence after the other.");
}
