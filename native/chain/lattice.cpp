// Viterbi and forward-backward over lattices of candidate labels. See lattice.h for the score.
#include "chain/lattice.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/log_sum.h"
#include "features/sparse_features.h"

namespace {

// alpha_j(y') = node_j(y') + max_y alpha_j-1(y) + edge(y, y'); ties go to the first y.
template <bool Dense>
void step(const Edges& edges, const int32_t* from, const float* alpha, size_t m, const int32_t* to, const float* node,
          size_t width, float* next, int32_t* back) {
    const size_t stride = static_cast<size_t>(edges.n_labels) + 1;
    for (size_t k = 0; k < m; ++k) {
        const float* row = Dense ? edges.dense.data() + static_cast<size_t>(from[k]) * stride : nullptr;
        for (size_t l = 0; l < width; ++l) {
            const float value = alpha[k] + (Dense ? row[to[l]] : edges.at(from[k], to[l]));
            if (k == 0 || value > next[l]) {
                next[l] = value;
                back[l] = static_cast<int32_t>(k);
            }
        }
    }
    for (size_t l = 0; l < width; ++l) next[l] += node[l];
}

// The same from a block of edge scores.
void block_step(const float* block, const float* alpha, size_t m, const float* node, size_t width, float* next, int32_t* back) {
    for (size_t l = 0; l < width; ++l) {
        next[l] = alpha[0] + block[l];
        back[l] = 0;
    }
    for (size_t k = 1; k < m; ++k)
        for (size_t l = 0; l < width; ++l) {
            const float value = alpha[k] + block[k * width + l];
            if (value > next[l]) {
                next[l] = value;
                back[l] = static_cast<int32_t>(k);
            }
        }
    for (size_t l = 0; l < width; ++l) next[l] += node[l];
}

// The same where every position has all K labels in order: rows of edge scores are read straight through.
void full_step(const Edges& edges, const float* alpha, const float* node, float* next, int32_t* back) {
    const size_t K = static_cast<size_t>(edges.n_labels);
    std::fill(next, next + K, -INFINITY);
    std::fill(back, back + K, 0);
    for (size_t k = 0; k < K; ++k) {
        const float* row = edges.dense.data() + k * (K + 1);
        const float a = alpha[k];
        for (size_t l = 0; l < K; ++l) {
            const float value = a + row[l];
            const bool better = value > next[l];
            next[l] = better ? value : next[l];
            back[l] = better ? static_cast<int32_t>(k) : back[l];
        }
    }
    for (size_t l = 0; l < K; ++l) next[l] += node[l];
}

}  // namespace

float Viterbi::decode(const SentenceLattice& s, const Edges& edges, int32_t* best) {
    if (s.n == 0) return 0.0f;
    if (!edges.triples.empty()) return decode_second(s, edges, best);
    const int32_t K = edges.n_labels;
    const int64_t base = s.offsets[0];
    const bool dense = !edges.dense.empty();
    back_.resize(static_cast<size_t>(s.offsets[s.n] - base));
    // alpha_1(y) = start(y) + node_1(y)
    size_t m = static_cast<size_t>(s.offsets[1] - base);
    alpha_.resize(m);
    s.edge_block(0, edges, block_);
    for (size_t k = 0; k < m; ++k) alpha_[k] = block_[k] + s.scores[base + k];
    for (size_t j = 1; j < s.n; ++j) {
        const int32_t* from = s.labels + s.offsets[j - 1];
        const int32_t* to = s.labels + s.offsets[j];
        const float* node = s.scores + s.offsets[j];
        const size_t width = static_cast<size_t>(s.offsets[j + 1] - s.offsets[j]);
        int32_t* back = back_.data() + (s.offsets[j] - base);
        next_.resize(width);
        if (edges.local || s.extra.any(s.first + static_cast<int64_t>(j))) {
            s.edge_block(j, edges, block_);
            block_step(block_.data(), alpha_.data(), m, node, width, next_.data(), back);
        } else if (dense && m == static_cast<size_t>(K) && width == static_cast<size_t>(K))
            full_step(edges, alpha_.data(), node, next_.data(), back);
        else if (dense)
            step<true>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        else
            step<false>(edges, from, alpha_.data(), m, to, node, width, next_.data(), back);
        alpha_.swap(next_);
        m = width;
    }
    const int32_t* last = s.labels + s.offsets[s.n - 1];
    float top = -INFINITY;
    int32_t arg = 0;
    for (size_t k = 0; k < m; ++k) {
        const float value = alpha_[k] + edges.at(last[k], K);
        if (value > top) {
            top = value;
            arg = static_cast<int32_t>(k);
        }
    }
    for (size_t j = s.n; j-- > 0;) {
        best[j] = s.labels[s.offsets[j] + arg];
        if (j > 0) arg = back_[static_cast<size_t>(s.offsets[j] - base) + arg];
    }
    return top;
}

// alpha_j(k, l) = node_j(l) + edge_j(k, l) + max_h alpha_j-1(h, k) + triple_j(h, k, l); ties go to the first h.
float Viterbi::decode_second(const SentenceLattice& s, const Edges& edges, int32_t* best) {
    const auto width = [&](size_t j, size_t back) { return s.around(j, back, edges).second; };
    places_.assign(1, 0);  // of the pairs that end at each position
    for (size_t j = 0; j <= s.n; ++j) places_.push_back(places_.back() + width(j, 1) * width(j, 0));
    back_.assign(places_.back(), 0);
    alpha_.assign(1, 0.0f);
    for (size_t j = 0; j <= s.n; ++j) {
        const size_t H = width(j, 2), m = width(j, 1), n = width(j, 0);
        s.edge_block(j, edges, block_);
        triple_.resize(H * m * n);
        s.triple_block(j, edges, triple_.data());
        next_.assign(m * n, -INFINITY);
        const float* x = triple_.data();
        for (size_t h = 0; h < H; ++h) {
            float* next = next_.data();
            int32_t* back = back_.data() + places_[j];
            for (size_t k = 0; k < m; ++k)
                for (size_t l = 0; l < n; ++l, ++x, ++next, ++back) {
                    const float value = alpha_[h * m + k] + *x;
                    if (value > *next) {
                        *next = value;
                        *back = static_cast<int32_t>(h);
                    }
                }
        }
        const float* node = j < s.n ? s.scores + s.offsets[j] : nullptr;
        for (size_t k = 0; k < m; ++k)
            for (size_t l = 0; l < n; ++l) next_[k * n + l] += block_[k * n + l] + (node == nullptr ? 0.0f : node[l]);
        alpha_.swap(next_);
    }
    // Now the pairs are of the last label and the end.
    auto k = static_cast<size_t>(std::max_element(alpha_.begin(), alpha_.end()) - alpha_.begin());
    const float top = alpha_[k];
    size_t l = 0;
    for (size_t j = s.n; j > 0; --j) {
        best[j - 1] = s.labels[s.offsets[j - 1] + static_cast<int64_t>(k)];
        const auto h = static_cast<size_t>(back_[places_[j] + k * width(j, 0) + l]);
        l = k;
        k = h;
    }
    return top;
}

double ForwardBackward::run(const SentenceLattice& s, const Edges& edges, float* marginals, std::vector<float>* pairs) {
    if (s.n == 0) return 0.0;
    if (!edges.triples.empty()) return run_second(s, edges, marginals, pairs);
    const int32_t K = edges.n_labels;
    const int64_t base = s.offsets[0];
    const size_t total = static_cast<size_t>(s.offsets[s.n] - base);
    alpha_.resize(total);
    std::vector<double> terms;
    const auto start_of = [&](size_t j) { return static_cast<size_t>(s.offsets[j] - base); };
    const auto width_of = [&](size_t j) { return static_cast<size_t>(s.offsets[j + 1] - s.offsets[j]); };

    s.edge_block(0, edges, block_);
    for (size_t k = 0; k < width_of(0); ++k) alpha_[k] = static_cast<double>(block_[k]) + s.scores[base + k];
    for (size_t j = 1; j < s.n; ++j) {
        const size_t before = start_of(j - 1), here = start_of(j), m = width_of(j - 1);
        terms.resize(m);
        s.edge_block(j, edges, block_);
        for (size_t l = 0; l < width_of(j); ++l) {
            for (size_t k = 0; k < m; ++k) terms[k] = alpha_[before + k] + block_[k * width_of(j) + l];
            alpha_[here + l] = s.scores[base + here + l] + log_sum(terms.data(), m);
        }
    }
    const size_t last = start_of(s.n - 1), m = width_of(s.n - 1);
    terms.resize(m);
    for (size_t k = 0; k < m; ++k) terms[k] = alpha_[last + k] + edges.at(s.labels[base + last + k], K);
    const double log_z = log_sum(terms.data(), m);
    if (marginals == nullptr) return log_z;

    beta_.resize(total);
    for (size_t k = 0; k < m; ++k) beta_[last + k] = edges.at(s.labels[base + last + k], K);
    for (size_t j = s.n - 1; j-- > 0;) {
        const size_t here = start_of(j), after = start_of(j + 1), width = width_of(j + 1);
        terms.resize(width);
        s.edge_block(j + 1, edges, block_);
        for (size_t k = 0; k < width_of(j); ++k) {
            for (size_t l = 0; l < width; ++l)
                terms[l] = static_cast<double>(block_[k * width + l]) + s.scores[base + after + l] + beta_[after + l];
            beta_[here + k] = log_sum(terms.data(), width);
        }
    }
    for (size_t i = 0; i < total; ++i) marginals[i] = static_cast<float>(std::exp(alpha_[i] + beta_[i] - log_z));
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j) {
        const size_t before = start_of(j - 1), here = start_of(j), width = width_of(j);
        s.edge_block(j, edges, block_);
        for (size_t k = 0; k < width_of(j - 1); ++k)
            for (size_t l = 0; l < width; ++l)
                pairs->push_back(static_cast<float>(std::exp(alpha_[before + k] + block_[k * width + l] + s.scores[base + here + l] +
                                                             beta_[here + l] - log_z)));
    }
    return log_z;
}

double ForwardBackward::run_second(const SentenceLattice& s, const Edges& edges, float* marginals, std::vector<float>* pairs) {
    Chain<double>& c = chain_;
    c.n = s.n;
    c.second = true;
    c.width.resize(s.n);
    for (size_t j = 0; j < s.n; ++j) c.width[j] = s.around(j, 0, edges).second;
    c.lay_out();
    std::copy(s.scores + s.offsets[0], s.scores + s.offsets[s.n], c.node.begin());
    for (size_t j = 0; j <= s.n; ++j) {
        s.triple_block(j, edges, c.triples(j));
        s.edge_block(j, edges, block_);
        std::copy(block_.begin(), block_.end(), c.edges(j));
    }
    const double log_z = expectations(c);
    if (marginals == nullptr) return log_z;
    std::transform(c.node.begin(), c.node.end(), marginals, [](double p) { return static_cast<float>(p); });
    for (size_t j = 1; pairs != nullptr && j < s.n; ++j)
        for (size_t i = 0; i < c.rows(j) * c.width[j]; ++i) pairs->push_back(static_cast<float>(c.edges(j)[i]));
    return log_z;
}

namespace {

// Edge features of tokens, then their rows: (offsets, ids, row offsets, label pairs, scores).
using ExtraArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, In<int64_t>, In<int32_t>, In<float>>>;

struct CheckedLattice {
    In<int64_t> sentences, offsets;
    In<int32_t> labels;
    In<float> scores;
    EdgeFeatures extra = {};

    void use(const ExtraArrays& arrays) {
        if (!arrays) return;
        const auto& [tokens, ids, rows, pairs, values] = *arrays;
        const size_t n = offsets.shape(0) - 1;
        const auto size = static_cast<int64_t>(rows.shape(0)) - 1;
        if (tokens.shape(0) != n + 1 || pairs.shape(0) != values.shape(0))
            throw nb::value_error("edge features and tokens disagree");
        check_offsets(tokens, ids.shape(0), "edge features and tokens disagree");
        check_offsets(rows, pairs.shape(0), "edge features and their label pairs disagree");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) >= size) throw nb::value_error("edge feature out of range");
        extra = {tokens.data(), ids.data(), rows.data(), pairs.data(), values.data()};
    }

    void check(const Edges& edges) const {
        if (labels.shape(0) != scores.shape(0)) throw nb::value_error("node labels and scores disagree");
        check_offsets(offsets, labels.shape(0), "node offsets and labels disagree");
        const size_t n = offsets.shape(0) - 1;
        check_offsets(sentences, n, "sentence offsets and node offsets disagree");
        for (size_t i = 0; i < n; ++i)
            if (offsets(i + 1) == offsets(i)) throw nb::value_error("a position without candidate labels");
        // Candidates in rising order: with K of them at a position, they are all labels in order.
        for (size_t i = 0; i < n; ++i)
            for (int64_t k = offsets(i); k < offsets(i + 1); ++k)
                if (labels(k) < 0 || labels(k) >= edges.n_labels || (k > offsets(i) && labels(k) <= labels(k - 1)))
                    throw nb::value_error("candidate labels are out of range or out of order");
    }
    SentenceLattice sentence(size_t s) const {
        return {offsets.data() + sentences(s), labels.data(), scores.data(),
                static_cast<size_t>(sentences(s + 1) - sentences(s)), extra, sentences(s)};
    }
    size_t size() const { return sentences.shape(0) - 1; }
};

// Scores of three labels in a row: (row offsets by the label two back, pairs of those after it, scores).
using TripleArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, In<float>>>;

void use_triples(const TripleArrays& arrays, Edges& edges) {
    if (!arrays) return;
    const auto& [offsets, pairs, scores] = *arrays;
    if (edges.local) throw nb::value_error("edges that are normalised locally have no scores of label triples");
    if (pairs.shape(0) != scores.shape(0)) throw nb::value_error("label triples and their scores disagree");
    check_triples(offsets, pairs, static_cast<size_t>(edges.n_labels));
    edges.triples = Triples(offsets.data(), pairs.data(), static_cast<size_t>(edges.n_labels));
    edges.triple_scores.assign(scores.data(), scores.data() + scores.size());
}

}  // namespace

void bind_lattice(nb::module_& m) {
    nb::class_<Edges>(m, "Edges", "Edge scores of a chain, dense or sparse.")
        .def_static(
            "dense",
            [](In2<float> scores, bool local, const TripleArrays& triples) {
                if (scores.shape(0) != scores.shape(1) || scores.shape(0) < 1)
                    throw nb::value_error("dense edge scores are a (K + 1, K + 1) array");
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
            [](In<int64_t> offsets, In<int32_t> to, In<float> scores, In<float> row, In<float> col, float weight, bool local,
               const TripleArrays& triples) {
                const size_t size = row.shape(0);
                if (size < 1 || offsets.shape(0) != size + 1 || col.shape(0) != size || to.shape(0) != scores.shape(0))
                    throw nb::value_error("sparse edge arrays disagree");
                check_offsets(offsets, to.shape(0), "edge offsets and labels disagree");
                for (size_t y = 0; y < size; ++y)
                    for (int64_t i = offsets(y); i < offsets(y + 1); ++i)
                        if (to(i) < 0 || static_cast<size_t>(to(i)) >= size || (i > offsets(y) && to(i) <= to(i - 1)))
                            throw nb::value_error("edge labels are out of range or out of order");
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
                if (y < 0 || z < 0 || y > edges.n_labels || z > edges.n_labels) throw nb::index_error("no such label");
                return edges.at(y, z);
            },
            nb::arg("y"), nb::arg("z"))
        .def(
            "triple",
            [](const Edges& edges, int32_t y, int32_t z, int32_t w) {
                if (std::min({y, z, w}) < 0 || std::max({y, z, w}) > edges.n_labels) throw nb::index_error("no such label");
                return edges.at(y, z, w);
            },
            nb::arg("y"), nb::arg("z"), nb::arg("w"))
        .def_ro("n_labels", &Edges::n_labels)
        .def_ro("local", &Edges::local);
    m.def(
        "viterbi",
        [](In<int64_t> sentences, In<int64_t> offsets, In<int32_t> labels, In<float> scores, const Edges& edges,
           const ExtraArrays& extra) {
            CheckedLattice lattice{sentences, offsets, labels, scores};
            lattice.check(edges);
            lattice.use(extra);
            std::vector<int32_t> best(offsets.shape(0) - 1);
            std::vector<float> totals(lattice.size());
            {
                nb::gil_scoped_release release;
                Viterbi viterbi;
                for (size_t s = 0; s < lattice.size(); ++s)
                    totals[s] = viterbi.decode(lattice.sentence(s), edges, best.data() + sentences(s));
            }
            return nb::make_tuple(to_numpy(std::move(best)), to_numpy(std::move(totals)));
        },
        nb::arg("sentences"), nb::arg("offsets"), nb::arg("labels"), nb::arg("scores"), nb::arg("edges"),
        nb::arg("extra") = nb::none(),
        "Best label of each position and best score of each sentence.");
    m.def(
        "forward_backward",
        [](In<int64_t> sentences, In<int64_t> offsets, In<int32_t> labels, In<float> scores, const Edges& edges,
           const ExtraArrays& extra, bool with_pairs) {
            CheckedLattice lattice{sentences, offsets, labels, scores};
            lattice.check(edges);
            lattice.use(extra);
            std::vector<float> marginals(labels.shape(0)), pairs;
            std::vector<double> log_z(lattice.size());
            {
                nb::gil_scoped_release release;
                ForwardBackward pass;
                for (size_t s = 0; s < lattice.size(); ++s)
                    log_z[s] = pass.run(lattice.sentence(s), edges, marginals.data() + offsets(sentences(s)), with_pairs ? &pairs : nullptr);
            }
            return nb::make_tuple(to_numpy(std::move(log_z)), to_numpy(std::move(marginals)), to_numpy(std::move(pairs)));
        },
        nb::arg("sentences"), nb::arg("offsets"), nb::arg("labels"), nb::arg("scores"), nb::arg("edges"),
        nb::arg("extra") = nb::none(), nb::arg("with_pairs") = false,
        "log Z of each sentence, P(label) of each candidate and, if asked for, P(label, label) of neighbouring candidates.");
}
