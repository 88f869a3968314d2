// See path_answers.h.
#include "decoding/path_answers.h"

#include <algorithm>

#include "core/vectors.h"
#include "decoding/one_block.h"

SpanLabels SpanTables::of(const Edges& edges) const {
    const auto n = static_cast<size_t>(edges.n_labels);
    if (group.size() != n || opens.size() != n || closes.size() != n) throw std::invalid_argument("spans and labels disagree");
    return {group.data(), opens.data(), closes.data()};
}

PathAnswers::PathAnswers(LatticeBatch lattice, const Edges& edges, std::optional<Array<uint8_t>> allowed,
                         std::optional<Array<uint8_t>> forbidden, std::optional<SpanTables> blocks, size_t threads)
    : lattice_(std::move(lattice)),
      edges_(edges),
      allowed_(std::move(allowed)),
      forbidden_(std::move(forbidden)),
      blocks_(std::move(blocks)),
      threads_(threads) {
    if (allowed_ && allowed_->size() != lattice_.n_candidates()) throw std::invalid_argument("limits and candidates disagree");
    if (forbidden_ && forbidden_->size() != edges.pairs().size()) throw std::invalid_argument("limits and label pairs disagree");
    if (allowed_) limits_.allowed = allowed_->data();
    if (forbidden_) limits_.forbidden = forbidden_->data();
    if (!blocks_) return;
    limits_.blocks = blocks_->of(edges);
    for (const int32_t group : blocks_->group) limits_.n_blocks = std::max(limits_.n_blocks, group + 1);
}

template <typename Use>
void PathAnswers::each(std::vector<double>* log_z, Use use) const {
    if (many_blocks()) throw std::invalid_argument("too many blocks");
    lattice_.in_ranges(threads_, [&](size_t first, size_t last) {
        PathGraph graph;
        for (size_t s = first; s < last; ++s) {
            graph.build(lattice_.sentence(s), edges_, limits_);
            if (log_z != nullptr) (*log_z)[s] = graph.sum();
            if (graph.has_path()) use(s, graph);
        }
    });
}

std::tuple<std::vector<int32_t>, std::vector<double>> PathAnswers::best() const {
    std::vector<int32_t> labels(lattice_.n_tokens(), -1);
    std::vector<double> scores(lattice_.size(), -INFINITY);
    const auto own = [&](size_t s) { return labels.data() + lattice_.first(s); };
    if (many_blocks())
        lattice_.in_ranges(threads_, [&](size_t first, size_t last) {
            OneBlockDecoder decoder(edges_, limits_);
            for (size_t s = first; s < last; ++s) scores[s] = decoder.best(lattice_.sentence(s), own(s));
        });
    else
        each(nullptr, [&](size_t s, const PathGraph& graph) {
            const BestPaths found(graph);
            scores[s] = found.score(0);
            found.labels(0, own(s));
        });
    return {std::move(labels), std::move(scores)};
}

NBest PathAnswers::n_best(size_t n) const {
    const size_t size = lattice_.size();
    NBest all{std::vector<std::vector<int32_t>>(size), std::vector<std::vector<double>>(size), std::vector<double>(size)};
    each(&all.log_z, [&](size_t s, const PathGraph& graph) {
        if (n == 0) return;
        BestPaths found(graph);
        while (found.size() < n && found.next()) continue;
        all.labels[s].resize(found.size() * lattice_.length(s));
        for (size_t rank = 0; rank < found.size(); ++rank) {
            all.p[s].push_back(fast_exp(found.score(rank) - all.log_z[s]));
            found.labels(rank, all.labels[s].data() + rank * lattice_.length(s));
        }
    });
    return all;
}

std::vector<double> PathAnswers::through() const {
    std::vector<double> scores(lattice_.n_candidates(), -INFINITY);
    each(nullptr, [&](size_t s, const PathGraph& graph) {
        const PathsThrough found(graph);
        for (size_t j = 0; j < graph.n_tokens(); ++j) {
            double* own = scores.data() + lattice_.offsets()[static_cast<size_t>(lattice_.first(s)) + j];
            for (size_t v = graph.layer(j + 1); v < graph.layer(j + 2); ++v) {
                double& best = own[graph.state(v).candidate];
                best = std::max(best, found.score(v));
            }
        }
    });
    return scores;
}

std::vector<size_t> PathAnswers::checked(const Array<int64_t>& places, const Array<int64_t>& tokens,
                                         const Array<int64_t>& candidates) const {
    const char* message = "paths and sentences disagree";
    if (candidates.size() != tokens.size() || places.size() != lattice_.size() + 1) throw std::invalid_argument(message);
    check_offsets(places, tokens.size(), message);
    std::vector<size_t> first(1, 0);
    for (size_t s = 0; s < lattice_.size(); ++s)
        for (int64_t i = places[s]; i < places[s + 1]; ++i) {
            if (tokens[i] < 0 || static_cast<size_t>(tokens[i]) >= lattice_.length(s))
                throw std::invalid_argument("no such token");
            const int64_t* offsets = lattice_.offsets() + lattice_.first(s) + tokens[i];
            if (candidates[i] < 0 || candidates[i] >= offsets[1] - offsets[0]) throw std::invalid_argument("no such candidate");
            first.push_back(first.back() + lattice_.length(s));
        }
    return first;
}

std::tuple<std::vector<int32_t>, std::vector<double>> PathAnswers::traces(const Array<int64_t>& places,
                                                                          const Array<int64_t>& tokens,
                                                                          const Array<int64_t>& candidates) const {
    const std::vector<size_t> first = checked(places, tokens, candidates);
    std::vector<int32_t> labels(first.back(), -1);
    std::vector<double> arcs(first.back() + tokens.size(), -INFINITY);
    each(nullptr, [&](size_t s, const PathGraph& graph) {
        if (places[s] == places[s + 1]) return;
        const PathsThrough found(graph);
        for (auto i = static_cast<size_t>(places[s]); i < static_cast<size_t>(places[s + 1]); ++i) {
            const size_t v = found.best_state(static_cast<size_t>(tokens[i]), static_cast<size_t>(candidates[i]));
            if (v > 0) found.trace(v, labels.data() + first[i], arcs.data() + first[i] + i);
        }
    });
    return {std::move(labels), std::move(arcs)};
}

std::tuple<std::vector<double>, std::vector<double>> PathAnswers::sums() const {
    std::vector<double> log_z(lattice_.size()), entropy(lattice_.size());
    each(&log_z, [&](size_t s, const PathGraph& graph) { entropy[s] = path_entropy(graph, state_probabilities(graph)); });
    return {std::move(log_z), std::move(entropy)};
}

std::tuple<std::vector<double>, std::vector<double>, std::vector<double>> PathAnswers::marginals(bool with_pairs) const {
    const std::vector<size_t> first = lattice_.pair_places();
    std::vector<double> log_z(lattice_.size()), found(lattice_.n_candidates()), pairs(with_pairs ? first.back() : 0);
    each(&log_z, [&](size_t s, const PathGraph& graph) {
        path_marginals(graph, state_probabilities(graph), lattice_.offsets() + lattice_.first(s),
                       found.data() + lattice_.candidate(s), with_pairs ? pairs.data() + first[s] : nullptr);
    });
    return {std::move(log_z), std::move(found), std::move(pairs)};
}

std::vector<double> PathAnswers::span_probabilities(const Array<int64_t>& places, const Array<int64_t>& starts,
                                                    const Array<int64_t>& stops, const Array<int32_t>& groups,
                                                    const SpanTables& labels) const {
    const size_t n = starts.size();
    if (stops.size() != n || groups.size() != n || places.size() != lattice_.size() + 1)
        throw std::invalid_argument("spans and sentences disagree");
    check_offsets(places, n, "spans and sentences disagree");
    for (size_t s = 0; s < lattice_.size(); ++s)
        for (int64_t i = places[s]; i < places[s + 1]; ++i)
            if (starts[i] < 0 || starts[i] >= stops[i] || static_cast<size_t>(stops[i]) > lattice_.length(s))
                throw std::invalid_argument("a span is out of range");
    const SpanLabels spans = labels.of(edges_);
    std::vector<double> found(n), log_z(lattice_.size());
    each(&log_z, [&](size_t s, const PathGraph& graph) {
        const std::vector<double> p = state_probabilities(graph);
        for (int64_t i = places[s]; i < places[s + 1]; ++i)
            found[static_cast<size_t>(i)] =
                span_probability(graph, p, spans, static_cast<size_t>(starts[i]), static_cast<size_t>(stops[i]), groups[i]);
    });
    return found;
}

std::vector<int32_t> PathAnswers::sample(size_t n, uint64_t seed) const {
    if (n > 0 && lattice_.n_tokens() > SIZE_MAX / 8 / n) throw std::invalid_argument("too many samples");
    std::vector<int32_t> labels(n * lattice_.n_tokens(), -1);
    std::vector<double> log_z(lattice_.size());
    each(&log_z, [&](size_t s, const PathGraph& graph) {
        PathSampler sampler(seed, s);
        int32_t* at = labels.data() + n * static_cast<size_t>(lattice_.first(s));
        for (size_t i = 0; i < n; ++i) sampler.draw(graph, at + i * lattice_.length(s));
    });
    return labels;
}
