// Questions about the labellings of one sentence, answered exactly from its graph (path_graph.h).
#pragma once
#include <cstdint>
#include <vector>

#include "chain/shapes/path_graph.h"

// A path to a state: its last arc, and which of the paths to the arc's start comes before it. Or a path from a state: its first arc.
struct BestPath {
    double score = 0.0;
    size_t arc = 0, rank = 0;
};

// The best paths one after the other, best first. Only as many candidates are looked at as the paths asked for need:
// a state's r-th best path extends some path of the state before it, and that one is found when it is first needed.
//
//     V. Jimenez and A. Marzal, Computing the K shortest paths: a new algorithm and an experimental comparison, 1999
class BestPaths {
   public:
    // Finds the best path. The graph must have a path, and stay as it is.
    explicit BestPaths(const PathGraph& graph);

    // Finds the next path; false if there is none.
    bool next();
    // The number of paths found so far, and the score and the labels of each.
    size_t size() const { return count(graph_.end()); }
    double score(size_t rank) const { return found(graph_.end(), rank).score; }
    void labels(size_t rank, int32_t* labels) const;

   private:
    using Path = BestPath;
    struct After {
        bool operator()(const Path& a, const Path& b) const {
            if (a.score != b.score) return a.score < b.score;
            return a.arc != b.arc ? a.arc > b.arc : a.rank > b.rank;
        }
    };
    struct Ranked {
        std::vector<Path> paths, heap;  // the paths found, best first, and the best further path by each arc
        bool complete = false;          // there are no more
    };

    size_t count(size_t v) const { return place_[v] < 0 ? 1 : ranked_[static_cast<size_t>(place_[v])].paths.size(); }
    Path found(size_t v, size_t rank) const {
        return place_[v] < 0 ? best_[v] : ranked_[static_cast<size_t>(place_[v])].paths[rank];
    }
    bool complete(size_t v) const { return place_[v] >= 0 && ranked_[static_cast<size_t>(place_[v])].complete; }
    Ranked& ranked(size_t v);
    void extend(size_t v);

    const PathGraph& graph_;
    std::vector<Path> best_;      // by state
    std::vector<int32_t> place_;  // in ranked_, or -1 if only the best path was needed
    std::vector<Ranked> ranked_;
    std::vector<size_t> pending_;
};

// The best path through each state: its score is that of the best path to the state and of the best path from it to the end.
class PathsThrough {
   public:
    // The graph must have a path, and stay as it is.
    explicit PathsThrough(const PathGraph& graph);

    // Minus infinity if no path leads through the state.
    double score(size_t v) const { return before_[v].score + after_[v].score; }
    // The state of a candidate of token j with the best path; 0, the start, if there is none.
    size_t best_state(size_t j, size_t candidate) const;
    // The labels of the path, and the scores of its arcs: one to each token and one to the end.
    void trace(size_t v, int32_t* labels, double* arcs) const;

   private:
    const PathGraph& graph_;
    std::vector<BestPath> before_, after_;  // the best path to a state, and from it
    std::vector<size_t> next_;              // the state after it
};

// P(state) of all states. The shares must have been computed, and there must be a path; also in all that follows.
std::vector<double> state_probabilities(const PathGraph& graph);

// Adds up P(label) of the candidates of a sentence, which `offsets` delimit by token. If pairs is not null, adds up
// P(label, label) of the candidates of neighbouring tokens, from the second token on.
void path_marginals(const PathGraph& graph, const std::vector<double>& p, const int64_t* offsets, double* marginals,
                    double* pairs);

// -sum over labellings of P log P, in nats: the sum over states of P(state) times the entropy of the shares of its arcs.
double path_entropy(const PathGraph& graph, const std::vector<double>& p);

// The probability of all labellings in which a span of `group` stands exactly at the tokens from start to stop (exclusive).
double span_probability(const PathGraph& graph, const std::vector<double>& p, const SpanLabels& spans, size_t start, size_t stop,
                        int32_t group);

// Random labellings, drawn from the end to the start. Each stream of a seed has other numbers.
class PathSampler {
   public:
    PathSampler(uint64_t seed, uint64_t stream);
    void draw(const PathGraph& graph, int32_t* labels);

   private:
    double uniform();
    uint64_t state_;
};
