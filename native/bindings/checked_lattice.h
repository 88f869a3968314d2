// The arrays of a lattice, checked.
#pragma once
#include "bindings/arrays.h"
#include "chain/lattice.h"
#include "core/parallel.h"
#include "counting/word_pairs.h"

// Shares a WordPairs among Python objects.
struct WordPairsHandle {
    std::shared_ptr<const WordPairs> table;
};

// The scores of each edge feature for label pairs, checked once for many lattices. With `word_pairs`, the features are pairs of
// words, whose scores replace edges.
struct EdgeFeatureWeights {
    Array<int64_t> offsets;
    Array<int32_t> pairs;
    Array<float> scores;
    std::shared_ptr<const WordPairs> words = nullptr;
    WordPairScores word_pairs = {};

    EdgeFeatureWeights(const In<int64_t>& offsets_, const In<int32_t>& pairs_, const In<float>& scores_)
        : offsets(view(offsets_)), pairs(view(pairs_)), scores(view(scores_)) {
        if (pairs.size() != scores.size()) throw nb::value_error("edge features and their scores disagree");
        check_offsets(offsets, pairs.size(), "edge features and their label pairs disagree");
    }
    EdgeFeatureWeights(const WordPairsHandle& given, float scale, float floor, float forbidden)
        : offsets(of(given, given.table->rows().offsets)),
          pairs(of(given, given.table->rows().labels)),
          scores(of(given, given.table->rows().scores)),
          words(given.table),
          word_pairs{true, scale, floor, forbidden} {}
    template <typename T>
    static Array<T> of(const WordPairsHandle& given, const std::vector<T>& values) {
        return {values.data(), values.size(), given.table};
    }
    size_t size() const { return offsets.size() - 1; }
    EdgeFeatureWeights scaled(float factor) const {
        EdgeFeatureWeights found = *this;
        if (word_pairs.used) {
            found.word_pairs.scale *= factor;
            found.word_pairs.forbidden *= factor;
            return found;
        }
        const auto own = std::make_shared<std::vector<float>>(scores.begin(), scores.end());
        for (float& score : *own) score *= factor;
        found.scores = {own->data(), own->size(), own};
        return found;
    }
    // The score of a label pair.
    float at(int64_t feature, int32_t pair) const {
        const int32_t* last = pairs.data() + offsets[static_cast<size_t>(feature) + 1];
        const int32_t* found = std::lower_bound(pairs.data() + offsets[static_cast<size_t>(feature)], last, pair);
        const bool here = found != last && *found == pair;
        if (!word_pairs.used) return here ? scores[static_cast<size_t>(found - pairs.data())] : 0.0f;
        return word_pairs.scale * (here ? scores[static_cast<size_t>(found - pairs.data())] : word_pairs.floor);
    }
};

// The edge features of tokens, and the weights of features: (offsets, ids, weights).
using ExtraArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, EdgeFeatureWeights>>;

struct CheckedLattice {
    Array<int64_t> sentences, offsets;
    Array<int32_t> labels;
    Array<float> scores;
    EdgeFeatures extra = {};
    ExtraArrays kept = std::nullopt;  // what `extra` points to

    CheckedLattice(const In<int64_t>& sentences, const In<int64_t>& offsets, const In<int32_t>& labels, const In<float>& scores,
                   const Edges& edges, const ExtraArrays& arrays)
        : sentences(view(sentences)), offsets(view(offsets)), labels(view(labels)), scores(view(scores)) {
        check(edges);
        use(arrays);
        kept = arrays;
    }

    void use(const ExtraArrays& arrays) {
        if (!arrays) return;
        const auto& [tokens, ids, weights] = *arrays;
        if (tokens.shape(0) != offsets.size()) throw nb::value_error("edge features and tokens disagree");
        check_offsets(view(tokens), ids.shape(0), "edge features and tokens disagree");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) >= static_cast<int64_t>(weights.size())) throw nb::value_error("edge feature out of range");
        extra = {tokens.data(),         ids.data(),        weights.offsets.data(), weights.pairs.data(),
                 weights.scores.data(), weights.word_pairs};
        if (!extra.word_pairs.used) return;
        for (size_t s = 0; s < size(); ++s)
            for (int64_t t = sentences[s]; t < sentences[s + 1]; ++t)
                if (tokens(t + 1) - tokens(t) != (t + 1 == sentences[s + 1] ? 2 : 1))
                    throw nb::value_error("pairs of words and tokens disagree");
    }

    void check(const Edges& edges) const {
        if (labels.size() != scores.size()) throw nb::value_error("node labels and scores disagree");
        check_offsets(offsets, labels.size(), "node offsets and labels disagree");
        const size_t n = offsets.size() - 1;
        check_offsets(sentences, n, "sentence offsets and node offsets disagree");
        for (size_t i = 0; i < n; ++i)
            if (offsets[i + 1] == offsets[i]) throw nb::value_error("a position has no candidate labels");
        // A position with K candidates has all labels, in order.
        check_rising(offsets, labels, static_cast<size_t>(edges.n_labels), "candidate labels are out of range or out of order");
    }
    SentenceLattice sentence(size_t s) const {
        return {offsets.data() + sentences[s],
                labels.data(),
                scores.data(),
                static_cast<size_t>(sentences[s + 1] - sentences[s]),
                extra,
                sentences[s]};
    }
    size_t size() const { return sentences.size() - 1; }
    // Where the label pairs of each sentence start: those of candidates of neighbouring tokens, from the second token on.
    std::vector<size_t> pair_places() const {
        std::vector<size_t> first(1, 0);
        for (size_t s = 0; s < size(); ++s) {
            size_t n = 0;
            for (int64_t t = sentences[s] + 1; t < sentences[s + 1]; ++t)
                n += static_cast<size_t>((offsets[t] - offsets[t - 1]) * (offsets[t + 1] - offsets[t]));
            first.push_back(first.back() + n);
        }
        return first;
    }
    // Calls work(first, last) for ranges of sentences, on several threads and without the GIL.
    template <typename Work>
    void in_ranges(size_t threads, Work work) const {
        unlocked([&] {
            const size_t parts = useful_threads(threads, size());
            in_parallel(parts, [&](size_t part) { work(size() * part / parts, size() * (part + 1) / parts); });
        });
    }
};
