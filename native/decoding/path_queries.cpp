// See path_queries.h.
#include "decoding/path_queries.h"

#include <algorithm>
#include <cmath>

#include "core/logarithms.h"
#include "core/mixing.h"

namespace {

// The best path to each state.
std::vector<BestPath> best_to(const PathGraph& graph) {
    std::vector<BestPath> found(graph.n_states());
    for (size_t v = 1; v < graph.n_states(); ++v) {
        BestPath best{-INFINITY, graph.first_arc(v)};
        for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a) {
            const double score = found[graph.arc(a).from].score + graph.arc(a).score;
            if (score > best.score) best = {score, a};
        }
        found[v] = best;
    }
    return found;
}

}  // namespace

BestPaths::BestPaths(const PathGraph& graph) : graph_(graph), best_(best_to(graph)), place_(graph.n_states(), -1) {}

BestPaths::Ranked& BestPaths::ranked(size_t v) {
    if (place_[v] >= 0) return ranked_[static_cast<size_t>(place_[v])];
    if (ranked_.empty()) ranked_.reserve(2 * graph_.n_tokens() + 2);
    place_[v] = static_cast<int32_t>(ranked_.size());
    Ranked& own = ranked_.emplace_back();
    own.heap.reserve(graph_.last_arc(v) - graph_.first_arc(v));
    own.paths.push_back(best_[v]);
    for (size_t a = graph_.first_arc(v); a < graph_.last_arc(v); ++a)
        if (a != best_[v].arc) own.heap.push_back({best_[graph_.arc(a).from].score + graph_.arc(a).score, a, 0});
    std::make_heap(own.heap.begin(), own.heap.end(), After());
    return own;
}

bool BestPaths::next() {
    if (complete(graph_.end())) return false;
    // The path after the last one of a state may need the path after that of the state before it, and so on.
    pending_.clear();
    for (size_t v = graph_.end();;) {
        const Path last = ranked(v).paths.back();
        pending_.push_back(v);
        if (v == 0) break;
        v = graph_.arc(last.arc).from;
        if (count(v) > last.rank + 1 || complete(v)) break;
    }
    for (size_t i = pending_.size(); i-- > 0;) extend(pending_[i]);
    return !complete(graph_.end());
}

// Finds the next path to a state. The next path to the state before it has been found, if there is one.
void BestPaths::extend(size_t v) {
    Ranked& own = ranked_[static_cast<size_t>(place_[v])];
    const Path last = own.paths.back();
    if (v > 0 && count(graph_.arc(last.arc).from) > last.rank + 1) {
        const PathGraph::Arc& arc = graph_.arc(last.arc);
        own.heap.push_back({found(arc.from, last.rank + 1).score + arc.score, last.arc, last.rank + 1});
        std::push_heap(own.heap.begin(), own.heap.end(), After());
    }
    if (own.heap.empty()) {
        own.complete = true;
        return;
    }
    std::pop_heap(own.heap.begin(), own.heap.end(), After());
    own.paths.push_back(own.heap.back());
    own.heap.pop_back();
}

void BestPaths::labels(size_t rank, int32_t* labels) const {
    size_t v = graph_.end();
    for (size_t j = graph_.n_tokens(); j-- > 0;) {
        const Path path = found(v, rank);
        v = graph_.arc(path.arc).from;
        rank = path.rank;
        labels[j] = graph_.state(v).label;
    }
}

PathsThrough::PathsThrough(const PathGraph& graph)
    : graph_(graph), before_(best_to(graph)), after_(graph.n_states(), {-INFINITY}), next_(graph.n_states()) {
    after_[graph.end()].score = 0.0;
    for (size_t v = graph.n_states(); v-- > 1;)
        for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a) {
            const size_t u = graph.arc(a).from;
            const double score = graph.arc(a).score + after_[v].score;
            if (score < after_[u].score) continue;
            after_[u] = {score, a};
            next_[u] = v;
        }
}

size_t PathsThrough::best_state(size_t j, size_t candidate) const {
    size_t best = 0;
    double top = -INFINITY;
    for (size_t v = graph_.layer(j + 1); v < graph_.layer(j + 2); ++v)
        if (graph_.state(v).candidate == candidate && score(v) > top) {
            best = v;
            top = score(v);
        }
    return best;
}

void PathsThrough::trace(size_t v, int32_t* labels, double* arcs) const {
    size_t j = 0;  // v is a state of token j
    while (graph_.layer(j + 2) <= v) ++j;
    labels[j] = graph_.state(v).label;
    for (size_t i = j, u = v;; --i) {
        arcs[i] = graph_.arc(before_[u].arc).score;
        u = graph_.arc(before_[u].arc).from;
        if (i == 0) break;
        labels[i - 1] = graph_.state(u).label;
    }
    for (size_t i = j + 1, u = v; i <= graph_.n_tokens(); ++i) {
        arcs[i] = graph_.arc(after_[u].arc).score;
        u = next_[u];
        if (i < graph_.n_tokens()) labels[i] = graph_.state(u).label;
    }
}

std::vector<double> state_probabilities(const PathGraph& graph) {
    std::vector<double> p(graph.n_states(), 0.0);
    p[graph.end()] = 1.0;
    for (size_t v = graph.n_states(); v-- > 1;) {
        if (p[v] == 0.0) continue;
        for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a) p[graph.arc(a).from] += p[v] * graph.share(a);
    }
    return p;
}

void path_marginals(const PathGraph& graph, const std::vector<double>& p, const int64_t* offsets, double* marginals,
                    double* pairs) {
    for (size_t j = 0; j < graph.n_tokens(); ++j) {
        double* own = marginals + (offsets[j] - offsets[0]);
        const auto width = static_cast<size_t>(offsets[j + 1] - offsets[j]);
        for (size_t v = graph.layer(j + 1); v < graph.layer(j + 2); ++v) {
            own[graph.state(v).candidate] += p[v];
            if (pairs == nullptr || j == 0 || p[v] == 0.0) continue;
            for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a) {
                const size_t k = graph.state(graph.arc(a).from).candidate;
                pairs[k * width + graph.state(v).candidate] += p[v] * graph.share(a);
            }
        }
        if (pairs != nullptr && j > 0) pairs += static_cast<size_t>(offsets[j] - offsets[j - 1]) * width;
    }
}

double path_entropy(const PathGraph& graph, const std::vector<double>& p) {
    double total = 0.0;
    for (size_t v = 1; v < graph.n_states(); ++v) {
        if (p[v] == 0.0) continue;
        double own = 0.0;
        for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a)
            if (const double share = graph.share(a); share > 0.0) own -= share * portable_log(share);
        total += p[v] * own;
    }
    return total;
}

double span_probability(const PathGraph& graph, const std::vector<double>& p, const SpanLabels& spans, size_t start, size_t stop,
                        int32_t group) {
    // From the layer after the span back to the layer before it, along the arcs that belong to the span.
    size_t base = graph.layer(stop + 1), top = graph.layer(stop + 2);
    std::vector<double> here(p.begin() + static_cast<std::ptrdiff_t>(base), p.begin() + static_cast<std::ptrdiff_t>(top)), before;
    for (size_t j = stop + 1; j-- > start;) {
        const size_t from = graph.layer(j);
        before.assign(base - from, 0.0);
        for (size_t v = base; v < top; ++v) {
            if (here[v - base] == 0.0) continue;
            const int32_t z = graph.state(v).label;
            if (j < stop && spans.group[z] != group) continue;
            for (size_t a = graph.first_arc(v); a < graph.last_arc(v); ++a) {
                const PathGraph::Arc& arc = graph.arc(a);
                const bool at_end = j == graph.n_tokens(), at_start = j == 0;
                const bool joined = !at_end && !at_start && spans.joins(graph.state(arc.from).label, z);
                if (joined == (j > start && j < stop)) before[arc.from - from] += here[v - base] * graph.share(a);
            }
        }
        here.swap(before);
        top = base;
        base = from;
    }
    double total = 0.0;
    for (const double value : here) total += value;
    return std::min(total, 1.0);
}

PathSampler::PathSampler(uint64_t seed, uint64_t stream) : state_(mixed(mixed(seed) + stream)) {}

double PathSampler::uniform() {
    state_ += 0x9E3779B97F4A7C15ull;
    return as_uniform(mixed(state_));
}

void PathSampler::draw(const PathGraph& graph, int32_t* labels) {
    size_t v = graph.end();
    for (size_t j = graph.n_tokens(); j-- > 0;) {
        double left = uniform();
        size_t chosen = graph.first_arc(v);
        for (size_t a = chosen; a < graph.last_arc(v); ++a) {
            if (graph.share(a) == 0.0) continue;
            chosen = a;  // the last one with a share, if rounding leaves something
            left -= graph.share(a);
            if (left < 0.0) break;
        }
        v = graph.arc(chosen).from;
        labels[j] = graph.state(v).label;
    }
}
