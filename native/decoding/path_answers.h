// Questions about the labellings of many sentences, under constraints, answered exactly on several threads.
#pragma once
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "chain/lattice_batch.h"
#include "decoding/path_queries.h"

// SpanLabels of all labels, in arrays.
struct SpanTables {
    Array<int32_t> group;
    Array<uint8_t> opens, closes;

    SpanLabels of(const Edges& edges) const;
};

// Best labellings: those of sentence s in labels[s], one after the other, with their probabilities.
struct NBest {
    std::vector<std::vector<int32_t>> labels;
    std::vector<std::vector<double>> p;
    std::vector<double> log_z;
};

// The lattices of sentences with the limits of their paths. A graph is built for each question, and not kept. log Z and scores are
// minus infinity for sentences without a path.
class PathAnswers {
   public:
    PathAnswers(LatticeBatch lattice, const Edges& edges, std::optional<Array<uint8_t>> allowed,
                std::optional<Array<uint8_t>> forbidden, std::optional<SpanTables> blocks, size_t threads);

    const LatticeBatch& lattice() const { return lattice_; }
    const Edges& edges() const { return edges_; }

    // The best label of each token and the score of each sentence; NaN if the search gave up.
    std::tuple<std::vector<int32_t>, std::vector<double>> best() const;
    NBest n_best(size_t n) const;
    // The score of the best labelling with each candidate.
    std::vector<double> through() const;
    // The best labellings with some candidates: their labels, and the scores of their arcs, one more than tokens. The candidates
    // of sentence s, each of a token of the sentence, are those from places[s] to places[s + 1].
    std::tuple<std::vector<int32_t>, std::vector<double>> traces(const Array<int64_t>& places, const Array<int64_t>& tokens,
                                                                 const Array<int64_t>& candidates) const;
    // log Z of each sentence and the entropy of its labellings.
    std::tuple<std::vector<double>, std::vector<double>> sums() const;
    // log Z of each sentence, P(label) of each candidate and, if they are wanted, P(label, label) of neighbouring candidates.
    std::tuple<std::vector<double>, std::vector<double>, std::vector<double>> marginals(bool with_pairs) const;
    // The probability of each span. The spans of sentence s are those from places[s] to places[s + 1].
    std::vector<double> span_probabilities(const Array<int64_t>& places, const Array<int64_t>& starts,
                                           const Array<int64_t>& stops, const Array<int32_t>& groups,
                                           const SpanTables& labels) const;
    // n labellings of each sentence, one sentence after the other.
    std::vector<int32_t> sample(size_t n, uint64_t seed) const;

   private:
    // Whether a graph cannot keep all groups to one block.
    bool many_blocks() const { return limits_.n_blocks > PathLimits::kMostBlocks; }
    // Calls use(s, graph) for each sentence with a path, on several threads. log_z, if it is given, receives the log Z of sentences,
    // and shares are computed.
    template <typename Use>
    void each(std::vector<double>* log_z, Use use) const;
    // Where the labels of each traced path start.
    std::vector<size_t> checked(const Array<int64_t>& places, const Array<int64_t>& tokens,
                                const Array<int64_t>& candidates) const;

    LatticeBatch lattice_;
    const Edges& edges_;
    std::optional<Array<uint8_t>> allowed_, forbidden_;
    std::optional<SpanTables> blocks_;
    PathLimits limits_;
    size_t threads_;
};
