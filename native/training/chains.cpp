// Training on whole sentences: a loss of chain.h over the items of chain_items.h.
//
// `Chains` gives value and gradient for batch optimisers, and stochastic passes; both take residuals of a batch of sentences
// side by side on several threads, then have each thread sum or step for its own features in the order of the sentences:
// the same bits for any number of threads.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <mutex>
#include <tuple>

#include "bindings/bindings.h"
#include "chain/chain_items.h"
#include "chain/dense_chains.h"
#include "chain/lattice.h"
#include "chain/sparse_chains.h"
#include "core/parallel.h"
#include "features/feature_stream.h"

namespace {

class Chains : public ChainItems {
   public:
    using ChainItems::ChainItems;

    // The loss over all sentences plus precision / 2 of the squared norm, and its gradient.
    double objective(const double* weights, double precision, double* gradient, size_t threads, bool exact) const {
        const std::lock_guard<std::mutex> guard(evaluating_);
        std::fill(gradient, gradient + size(), 0.0);
        if (!exact) single_.assign(weights, weights + size());
        Team team(useful_threads(threads, n_sentences()));
        double loss = exact ? sum_gradient<double>(weights, gradient, team) : sum_gradient<float>(single_.data(), gradient, team);
        double norm = 0.0;
        for (size_t i = 0; i < n_pairs(); ++i) {
            gradient[i] = free_(i) ? gradient[i] + precision * weights[i] : 0.0;
            norm += free_(i) ? weights[i] * weights[i] : 0.0;
        }
        for (size_t i = n_pairs(); i < size(); ++i) gradient[i] += precision * weights[i];
        norm += dot(weights + n_pairs(), weights + n_pairs(), size() - n_pairs());
        return loss + 0.5 * precision * norm;
    }

    // AdaGrad over sentences in the given order, as in maxent.cpp; `decay` holds the prior's share of T for each sentence
    // (where all labels are candidates), then of each edge feature, each node feature and any triple for each visit.
    double pass(InOut<float> state, In<int64_t> order, In<float> decay, float rate, size_t batch, size_t threads) const {
        check_pass(state, order, batch);
        const size_t features = 1 + edge_features() + nodes_->slots.n_features();
        if (decay.shape(0) != features + (triples_.empty() ? 0 : 1)) throw nb::value_error("decay and features disagree");
        nb::gil_scoped_release release;
        float* w = state.data();
        Work<float> work;
        std::vector<float> table(all_labels() ? n_pairs() : 0);
        double loss = 0.0;
        Team team(useful_threads(threads, std::min(batch, order.shape(0))));
        auto step = [&](size_t at, float shrink, float r) {
            float* pair = w + 2 * at;
            adagrad_step(pair, r + shrink * pair[0], rate);
        };
        for (size_t start = 0; start < order.shape(0); start += batch) {
            const size_t count = std::min(batch, order.shape(0) - start);
            loss += residuals_of<2>(order.data() + start, count, w, work, team);
            team.run([&](size_t part, size_t parts) {
                each_node_weight(work, kQuiet, part, parts, [&](size_t at, int32_t f, float r) {
                    step(at, decay(1 + edge_features() + static_cast<size_t>(f)), r);
                });
                each_edge_weight(work, part, parts, [&](size_t at, int32_t g, float r) { step(at, decay(1 + static_cast<size_t>(g)), r); });
                each_triple(work, kQuiet, part, parts, [&](size_t at, float r) { step(at, decay(features), r); });
                if (!all_labels()) {
                    each_pair(work, part, parts, [&](size_t at, float r) {
                        if (free_(at)) step(at, 0.0f, r);
                    });
                    return;
                }
                each_pair(work, part, parts, [&](size_t at, float r) { table[at] += r; });
                const float shrink = decay(0) * static_cast<float>(count);
                for (size_t y = part; y <= K_; y += parts)
                    for (size_t at = y * (K_ + 1); at < (y + 1) * (K_ + 1); ++at) {
                        if (free_(at) && table[at] != 0.0f) step(at, shrink, table[at]);
                        table[at] = 0.0f;
                    }
            });
        }
        return loss;
    }

    // Steps of the averaged perceptron, sentence by sentence. `state` holds (W, C) of each weight; at time t, a share of the
    // whole run, W -= residual and C -= t residual, so that W - C / t is the average of all W so far. Returns the mistakes.
    double perceptron(InOut<float> state, In<int64_t> order, double time, double step) const {
        check_pass(state, order, 1);
        nb::gil_scoped_release release;
        float* w = state.data();
        Work<float> work;
        Team alone(1);
        double wrong = 0.0;
        for (size_t i = 0; i < order.shape(0); ++i, time += step) {
            const auto t = static_cast<float>(time);
            residuals_of<2>(order.data() + i, 1, w, work, alone);
            const Chain<float>& chain = work.chains[0];
            size_t missed = 0;
            for (size_t j = 0; j < chain.n; ++j) missed += chain.best[j] != chain.gold[j];
            wrong += static_cast<double>(missed);
            if (missed == 0) continue;
            auto move = [&](size_t at, float r) {
                w[2 * at] -= r;
                w[2 * at + 1] -= t * r;
            };
            each_node_weight(work, 0.0f, 0, 1, [&](size_t at, int32_t, float r) {
                if (r != 0.0f) move(at, r);
            });
            each_edge_weight(work, 0, 1, [&](size_t at, int32_t, float r) {
                if (r != 0.0f) move(at, r);
            });
            each_pair(work, 0, 1, [&](size_t at, float r) {
                if (r != 0.0f && free_(at)) move(at, r);
            });
        }
        return wrong;
    }

    // The best labels of all tokens.
    std::vector<int32_t> best(const float* weights, size_t threads) const {
        std::vector<int32_t> found(n_tokens_);
        Edges edges;
        edges.n_labels = static_cast<int32_t>(K_);
        edges.dense.assign(weights, weights + n_pairs());
        edges.local = loss_ == Loss::local;
        edges.triples = triples_;
        edges.triple_scores.assign(weights + first_triple(), weights + size());
        const size_t parts = useful_threads(threads, n_sentences());
        in_parallel(parts, [&](size_t part) {
            Viterbi viterbi;
            std::vector<int64_t> offsets;
            std::vector<int32_t> own;
            std::vector<float> scores;
            for (size_t s = n_sentences() * part / parts; s < n_sentences() * (part + 1) / parts; ++s) {
                const int64_t first = sentences_(s), last = sentences_(s + 1);
                offsets.assign(1, 0);
                own.clear();
                for (int64_t t = first; t < last; ++t) {
                    own.insert(own.end(), labels(t), labels(t) + width(t));
                    offsets.push_back(static_cast<int64_t>(own.size()));
                }
                scores.resize(own.size());
                for (int64_t t = first; t < last; ++t) node_scores<1>(t, weights, scores.data() + offsets[static_cast<size_t>(t - first)]);
                SentenceLattice lattice{offsets.data(), own.data(), scores.data(), static_cast<size_t>(last - first)};
                if (edges_) {
                    lattice.extra = {std::get<0>(edges_->features).data(), std::get<1>(edges_->features).data(),
                                     std::get<0>(edges_->slot_arrays).data(), std::get<1>(edges_->slot_arrays).data(), weights + n_pairs()};
                    lattice.first = first;
                }
                viterbi.decode(lattice, edges, found.data() + first);
            }
        });
        return found;
    }

   private:
    // Residuals of a batch of sentences: by chains, or where the lattice is full and edges are the same everywhere, by groups.
    template <typename Real>
    struct Work {
        std::vector<size_t> sentences;
        std::vector<Chain<Real>> chains;
        std::vector<double> losses;
        DensePairs pairs;
        std::vector<DenseGroup> groups;
        // In place of those where few pairs were seen, and the sentences of a group are alike in length.
        bool few_pairs = false;
        SparsePairs sparse_pairs;
        std::vector<SparseGroup> sparse_groups;
        std::vector<std::vector<size_t>> members;
        std::vector<char> sparse;  // which groups
        size_t n_groups = 0, first_group = 0;  // of the batch, and how many come before it in the stream
        FeatureStream::Rows rows;
    };
    // Sentences of a group: more are quicker, fewer let the threads share a small batch.
    static constexpr size_t kGroup = 8, kLargeGroup = kTile;

    // The rows of a group, sentence by sentence.
    template <typename Group>
    std::vector<float*> rows_of(const std::vector<size_t>& members, Group& group) const {
        std::vector<float*> rows;
        for (size_t i = 0; i < members.size(); ++i)
            for (size_t j = 0; j < length(members[i]); ++j) rows.push_back(group.row(i, j));
        return rows;
    }

    template <typename Group>
    void streamed_scores(size_t g, const float* weights, const Work<float>& work, Group& group) const {
        const std::vector<float*> rows = rows_of(work.members[g], group);
        auto out = rows.begin();
        for (const size_t s : work.members[g])
            for (int64_t t = sentences_.data()[s]; t < sentences_.data()[s + 1]; ++t, ++out) {
                std::fill(*out, *out + work.rows.stride, 0.0f);
                if (base_) std::copy(base_->data() + first(t), base_->data() + first(t) + K_, *out);
            }
        stream_->add_scores(work.first_group + g, weights + n_pairs(), work.rows, rows.data());
    }

    bool dense() const { return all_labels() && !edges_ && triples_.empty() && (loss_ == Loss::likelihood || loss_ == Loss::pieces); }

    // Fills `work` with the residuals of sentences; returns their loss.
    template <size_t Stride, typename Real>
    double residuals_of(const int64_t* order, size_t count, const Real* weights, Work<Real>& work, Team& team) const {
        work.sentences.assign(order, order + count);
        work.n_groups = 0;
        double loss = 0.0;
        if constexpr (std::is_same_v<Real, float>) {
            if (dense()) {
                group_up(work, Stride == 1 ? kLargeGroup : kGroup);
                if (Stride == 2) work.pairs.set(weights, K_, Stride);
                work.losses.resize(work.n_groups);
                team.run([&](size_t part, size_t parts) {
                    for (size_t g = part; g < work.n_groups; g += parts) {
                        if (Stride == 1 && work.sparse[g])  // only batch evaluations find out which pairs are few
                            work.losses[g] = group_residual<1>(g, weights, work, work.sparse_groups[g], work.sparse_pairs);
                        else
                            work.losses[g] = group_residual<Stride>(g, weights, work, work.groups[g], work.pairs);
                    }
                });
                for (size_t g = 0; g < work.n_groups; ++g) loss += work.losses[g];
                return loss;
            }
        }
        if (work.chains.size() < count) work.chains.resize(count);
        work.losses.resize(count);
        team.run([&](size_t part, size_t parts) {
            for (size_t i = part; i < count; i += parts) work.losses[i] = residual<Stride>(work.sentences[i], weights, work.chains[i]);
        });
        for (size_t i = 0; i < count; ++i) loss += work.losses[i];
        return loss;
    }

    // Whether sentences, longest first, waste little room where all have as much as the longest.
    bool alike(const std::vector<size_t>& sentences) const {
        size_t tokens = 0;
        for (const size_t s : sentences) tokens += length(s);
        return kTile * length(sentences[0]) <= 4 * tokens + 1024;
    }

    // Splits the sentences of a batch into groups of like length, longest first.
    void group_up(Work<float>& work, size_t size) const {
        std::vector<size_t> sorted;
        for (const size_t s : work.sentences)
            if (length(s) > 0) sorted.push_back(s);
        std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return length(a) > length(b); });
        work.n_groups = (sorted.size() + size - 1) / size;
        if (work.groups.size() < work.n_groups) work.groups.resize(work.n_groups);
        if (work.few_pairs && work.sparse_groups.size() < work.n_groups) work.sparse_groups.resize(work.n_groups);
        work.members.assign(work.n_groups, {});
        for (size_t i = 0; i < sorted.size(); ++i) work.members[i / size].push_back(sorted[i]);
        work.sparse.clear();
        for (const std::vector<size_t>& members : work.members) work.sparse.push_back(work.few_pairs && alike(members));
    }

    template <size_t Stride, typename Group, typename Pairs>
    double group_residual(size_t g, const float* weights, Work<float>& work, Group& group, const Pairs& pairs) const {
        const std::vector<size_t>& members = work.members[g];
        std::vector<size_t> lengths;
        std::vector<const int32_t*> gold;
        std::vector<float> of_sentences;
        for (const size_t s : members) {
            const int32_t* first = gold_.data() + sentences_.data()[s];
            lengths.push_back(length(s));
            gold.push_back(std::any_of(first, first + length(s), [](int32_t y) { return y < 0; }) ? nullptr : first);
            of_sentences.push_back(sentence_weights_ ? sentence_weights_->data()[s] : 1.0f);
        }
        group.lay_out(lengths, pairs);
        if (Stride == 1) streamed_scores(g, weights, work, group);
        for (size_t i = 0; Stride != 1 && i < members.size(); ++i)
            each_token_ahead<Stride>(members[i], weights, [&](int64_t t, size_t j) { node_scores<Stride>(t, weights, group.row(i, j)); });
        if constexpr (std::is_same_v<Group, DenseGroup>)
            group.run(pairs, gold, of_sentences, loss_ == Loss::pieces);
        else
            group.run(pairs, gold, of_sentences);
        double loss = 0.0;
        for (size_t i = 0; i < members.size(); ++i)
            loss += group.bad(i) ? alone<Stride>(members[i], i, weights, group, pairs) : group.loss(i);
        return loss;
    }

    // The residuals of one sentence of a group, by the way that is always right.
    template <size_t Stride, typename Group, typename Pairs>
    double alone(size_t s, size_t i, const float* weights, Group& group, const Pairs& pairs) const {
        Chain<float> chain;
        const double loss = residual<Stride>(s, weights, chain);
        for (size_t j = 0; j < chain.n; ++j) std::copy(chain.nodes(j), chain.nodes(j) + K_, group.row(i, j));
        pairs_of(s, chain, 0, 1, [&](size_t at, float r) { group.add_pair(pairs, at, r); });
        return loss;
    }

    // Calls use(weight, feature, gradient) for each node weight of a batch that belongs to this part, but for those of
    // tokens whose residuals are all `quiet`. Groups are those of stochastic steps, which are dense.
    template <typename Real, typename Use>
    void each_node_weight(Work<Real>& work, Real quiet, size_t part, size_t parts, Use use) const {
        if constexpr (std::is_same_v<Real, float>)
            for (size_t g = 0; g < work.n_groups; ++g)
                for (size_t i = 0; i < work.members[g].size(); ++i) {
                    const size_t s = work.members[g][i];
                    for (size_t j = 0; j < length(s); ++j)
                        node_weights_of(sentences_.data()[s] + static_cast<int64_t>(j), work.groups[g].row(i, j), quiet, part, parts, use);
                }
        for (size_t i = 0; work.n_groups == 0 && !(dense() && std::is_same_v<Real, float>) && i < work.sentences.size(); ++i) {
            Chain<Real>& c = work.chains[i];
            for (size_t j = 0; j < c.n; ++j)
                node_weights_of(sentences_.data()[work.sentences[i]] + static_cast<int64_t>(j), c.nodes(j), quiet, part, parts, use);
        }
    }

    template <typename Real, typename Use>
    void each_edge_weight(Work<Real>& work, size_t part, size_t parts, Use use) const {
        if (!edges_) return;
        std::vector<int32_t> pairs;
        for (size_t i = 0; i < work.sentences.size(); ++i) edge_weights_of(work.sentences[i], work.chains[i], pairs, part, parts, use);
    }

    template <typename Real, typename Use>
    void each_triple(Work<Real>& work, Real quiet, size_t part, size_t parts, Use use) const {
        if (triples_.empty()) return;
        for (size_t i = 0; i < work.sentences.size(); ++i) triples_of(work.chains[i], quiet, part, parts, use);
    }

    // Calls use(weight, gradient) for each label pair of a batch whose first label belongs to this part.
    template <typename Real, typename Use>
    void each_pair(Work<Real>& work, size_t part, size_t parts, Use use) const {
        const auto add = [&](size_t at, float r) { use(at, static_cast<Real>(r)); };
        for (size_t g = 0; g < work.n_groups; ++g)
            if (work.sparse[g])
                work.sparse_groups[g].each_pair(work.sparse_pairs, part, parts, add);
            else
                work.groups[g].each_pair(part, parts, add);
        if (dense() && std::is_same_v<Real, float>) return;
        for (size_t i = 0; i < work.sentences.size(); ++i) pairs_of(work.sentences[i], work.chains[i], part, parts, use);
    }

    template <typename Real>
    void stream_gradient(Work<Real>& work, double* gradient, size_t part, size_t parts) const {
        for (size_t g = 0; g < work.n_groups; ++g) {
            const std::vector<float*> rows =
                work.sparse[g] ? rows_of(work.members[g], work.sparse_groups[g]) : rows_of(work.members[g], work.groups[g]);
            stream_->add_gradient(work.first_group + g, rows.data(), work.rows.stride, gradient + n_pairs(), part, parts);
        }
    }

    template <typename Real>
    double sum_gradient(const Real* weights, double* gradient, Team& team) const {
        const size_t batch = triples_.empty() ? 4 * kLargeGroup : kLargeGroup;  // chains of triples are large
        Work<Real>& work = std::get<Work<Real>>(work_);
        std::vector<int64_t> order(n_sentences());
        for (size_t s = 0; s < order.size(); ++s) order[s] = static_cast<int64_t>(s);
        if constexpr (std::is_same_v<Real, float>) {
            if (dense()) {
                std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(static_cast<size_t>(a)) > length(static_cast<size_t>(b)); });
                work.pairs.set(weights, K_, 1);
                work.pairs.score_as_rounded();
                work.few_pairs = loss_ == Loss::likelihood && work.sparse_pairs.set(work.pairs, free_.data());
                std::call_once(streamed_, [&] { stream_ = streamed(order); });
                stream_->open(work.rows, weights + n_pairs(), work.pairs.stride);
            }
        }
        double loss = 0.0;
        for (size_t start = 0; start < order.size(); start += batch) {
            work.first_group = start / kLargeGroup;
            loss += residuals_of<1>(order.data() + start, std::min(batch, order.size() - start), weights, work, team);
            team.run([&](size_t part, size_t parts) {
                const auto add = [&](size_t at, int32_t, Real r) { gradient[at] += static_cast<double>(r); };
                if (work.n_groups > 0)
                    stream_gradient(work, gradient, part, parts);
                else
                    each_node_weight(work, Real(0), part, parts, add);
                each_edge_weight(work, part, parts, add);
                const auto add_pair = [&](size_t at, Real r) { gradient[at] += static_cast<double>(r); };
                each_pair(work, part, parts, add_pair);
                each_triple(work, Real(0), part, parts, add_pair);
            });
        }
        return loss;
    }

    // The features of sentences in order, by the groups that they are taken in.
    std::unique_ptr<FeatureStream> streamed(const std::vector<int64_t>& order) const {
        std::vector<FeatureStream::Group> groups;
        size_t count = 0;
        for (const int64_t s : order) {
            const size_t n = length(static_cast<size_t>(s));
            if (n == 0) continue;
            if (count++ % kLargeGroup == 0) groups.emplace_back();
            groups.back().emplace_back(sentences_.data()[s], n);
        }
        return std::make_unique<FeatureStream>(*nodes_, groups, K_);
    }

    void check_pass(const InOut<float>& state, const In<int64_t>& order, size_t batch) const {
        if (state.shape(0) != 2 * size() || batch < 1) throw nb::value_error("weights and slots disagree");
        for (size_t i = 0; i < order.shape(0); ++i)
            if (order(i) < 0 || static_cast<size_t>(order(i)) >= n_sentences()) throw nb::value_error("no such sentence");
    }

    // Work memory of evaluations, one at a time: memory that is new to the process is slow to write.
    mutable std::mutex evaluating_;
    mutable std::vector<float> single_;  // the weights
    mutable std::tuple<Work<float>, Work<double>> work_;
    mutable std::once_flag streamed_;
    mutable std::unique_ptr<FeatureStream> stream_;  // made when first needed
};

}  // namespace

void bind_chains(nb::module_& m) {
    nb::class_<Chains>(m, "Chains", "Sentences as training items of a chain model, over a table of label pairs and sparse weights.")
        .def(nb::init<const std::string&, size_t, In<int64_t>, std::tuple<Csr, Csr>, std::optional<In<float>>, std::optional<Csr>,
                      std::optional<In<float>>, In<int32_t>, std::optional<std::tuple<Csr, Csr>>, std::optional<In<float>>, In<uint8_t>,
                      std::optional<Csr>>(),
             nb::arg("loss"), nb::arg("n_labels"), nb::arg("sentences"), nb::arg("node_slots"), nb::arg("values").none(),
             nb::arg("candidates").none(), nb::arg("base").none(), nb::arg("gold"), nb::arg("edge_slots").none(),
             nb::arg("sentence_weights").none(), nb::arg("free_pairs"), nb::arg("triples") = nb::none())
        .def_prop_ro("size", &Chains::size)
        .def_prop_ro("n_pairs", &Chains::n_pairs)
        .def(
            "objective",
            [](const Chains& chains, In<double> weights, double precision, size_t threads, bool exact) {
                if (weights.shape(0) != chains.size()) throw nb::value_error("weights and slots disagree");
                std::unique_ptr<double[]> gradient(new double[chains.size()]);  // `objective` fills it
                double value;
                {
                    nb::gil_scoped_release release;
                    value = chains.objective(weights.data(), precision, gradient.get(), threads, exact);
                }
                return nb::make_tuple(value, to_numpy(std::move(gradient), chains.size()));
            },
            nb::arg("weights"), nb::arg("precision"), nb::arg("threads"), nb::arg("exact") = false,
            "The loss with its Gaussian prior, and the gradient; exact: all in float64 and log space.")
        .def("pass_over", &Chains::pass, nb::arg("state"), nb::arg("order"), nb::arg("decay"), nb::arg("rate"), nb::arg("batch"),
             nb::arg("threads"), "One pass of AdaGrad, in place; returns the loss met.")
        .def("perceptron", &Chains::perceptron, nb::arg("state"), nb::arg("order"), nb::arg("time"), nb::arg("step"),
             "Steps of the averaged perceptron, in place; returns the tokens mislabelled.")
        .def(
            "best",
            [](const Chains& chains, In<float> weights, size_t threads) {
                if (weights.shape(0) != chains.size()) throw nb::value_error("weights and slots disagree");
                std::vector<int32_t> found;
                {
                    nb::gil_scoped_release release;
                    found = chains.best(weights.data(), threads);
                }
                return to_numpy(std::move(found));
            },
            nb::arg("weights"), nb::arg("threads"), "The best labels of all tokens.");
}
