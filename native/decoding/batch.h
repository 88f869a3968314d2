// A batch of sentences in columns of strings, tagged by a trained model.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "decoding/session.h"
#include "features/corpus_features.h"
#include "features/listing.h"

// A batch; call check() once before use.
struct Batch {
    Columns corpus;
    std::optional<Attributes> ready;  // ready-made features
    std::optional<Csr> more;          // further candidate labels of each token, for lattices

    void check(const Engine& engine) const;
    size_t size() const { return corpus.sentences.size() - 1; }
    int64_t first(size_t s) const { return corpus.sentences[s]; }
    int64_t length(size_t s) const { return corpus.sentences[s + 1] - corpus.sentences[s]; }
};

// Candidate labels and node scores of each token, and its edge features.
struct BatchLattice {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> scores;
    std::vector<int64_t> edge_offsets{0};
    std::vector<int32_t> edge_ids;
};

// The best label of each token. The first thread uses the session `kept`.
std::vector<int32_t> tag(const Engine& engine, const Batch& batch, size_t threads, Session& kept);
BatchLattice lattice(const Engine& engine, const Batch& batch, size_t threads, Session& kept);
