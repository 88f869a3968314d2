// See one_block.h.
#include "decoding/one_block.h"

#include <limits>

OneBlockDecoder::OneBlockDecoder(const Edges& edges, const PathLimits& limits)
    : edges_(edges), all_(limits), some_(limits), group_(static_cast<size_t>(edges.n_labels)) {
    some_.blocks.group = group_.data();
}

double OneBlockDecoder::best(const SentenceLattice& s, int32_t* labels) {
    group_.assign(group_.size(), -1);
    some_.n_blocks = 0;
    for (;;) {
        graph_.build(s, edges_, some_);
        if (!graph_.has_path()) return -INFINITY;
        BestPaths paths(graph_);
        for (size_t rank = 0; rank < kMostTried; ++rank) {
            if (rank > 0 && !paths.next()) return -INFINITY;
            paths.labels(rank, labels);
            find_repeated(labels, s.n);
            if (repeated_.empty()) return paths.score(rank);
            if (some_.n_blocks < PathLimits::kMostBlocks) break;
        }
        if (some_.n_blocks == PathLimits::kMostBlocks) return std::numeric_limits<double>::quiet_NaN();
        for (const int32_t group : repeated_)
            if (some_.n_blocks < PathLimits::kMostBlocks) add(group);
    }
}

void OneBlockDecoder::find_repeated(const int32_t* labels, size_t n) {
    repeated_.clear();
    count_.assign(static_cast<size_t>(all_.n_blocks), 0);
    for (size_t j = 0; j < n; ++j) {
        const int32_t group = all_.blocks.group[labels[j]];
        if (group < 0 || (j > 0 && all_.blocks.joins(labels[j - 1], labels[j]))) continue;
        if (++count_[static_cast<size_t>(group)] == 2) repeated_.push_back(group);
    }
}

void OneBlockDecoder::add(int32_t group) {
    for (size_t y = 0; y < group_.size(); ++y)
        if (all_.blocks.group[y] == group) group_[y] = some_.n_blocks;
    ++some_.n_blocks;
}
