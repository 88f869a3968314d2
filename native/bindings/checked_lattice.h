// The arrays of a lattice, checked.
#pragma once
#include "bindings/arrays.h"
#include "chain/lattice.h"

// Edge features of tokens, and their weights: (offsets, ids, row offsets, label pairs, scores).
using ExtraArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, In<int64_t>, In<int32_t>, In<float>>>;

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
        const auto& [tokens, ids, rows, pairs, values] = *arrays;
        const size_t n = offsets.size() - 1;
        const auto size = static_cast<int64_t>(rows.shape(0)) - 1;
        if (tokens.shape(0) != n + 1 || pairs.shape(0) != values.shape(0))
            throw nb::value_error("edge features and tokens disagree");
        check_offsets(view(tokens), ids.shape(0), "edge features and tokens disagree");
        check_offsets(view(rows), pairs.shape(0), "edge features and their label pairs disagree");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) >= size) throw nb::value_error("edge feature out of range");
        extra = {tokens.data(), ids.data(), rows.data(), pairs.data(), values.data()};
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
};
