// See counting.h.
#include "counting/counting.h"

#include <algorithm>
#include <numeric>

#include "core/parallel.h"
#include "core/sparse_rows.h"
#include "core/strings.h"

namespace {

void check_token_labels(std::span<const int32_t> labels, size_t n_labels) {
    for (const int32_t y : labels)
        if (y >= 0 && static_cast<size_t>(y) >= n_labels) throw std::invalid_argument("label id out of range");
}

void check_contexts(const int32_t* contexts, size_t n, size_t n_contexts) {
    int32_t top = -1;
    for (size_t t = 0; t < n; ++t) top = std::max(top, contexts[t]);
    if (top >= 0 && static_cast<size_t>(top) >= n_contexts) throw std::invalid_argument("context id out of range");
}

// Whether one counter for every context and label is faster than sorting the tokens: the counters then fit in the nearest
// caches.
bool few_counters(size_t n_contexts, size_t n_labels) { return n_contexts * n_labels <= 1 << 15; }

// Counts with one counter for each context and label.
CountTable count_densely(const int32_t* contexts, const int32_t* labels, size_t n, size_t n_contexts, size_t n_labels) {
    std::vector<int64_t> tally(n_contexts * n_labels, 0);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0)
            ++tally[static_cast<size_t>(contexts[t]) * n_labels + static_cast<size_t>(labels[t])];
    CountTable table;
    table.offsets.assign(n_contexts + 1, 0);
    for (size_t c = 0; c < n_contexts; ++c) {
        for (size_t y = 0; y < n_labels; ++y)
            if (tally[c * n_labels + y] > 0) {
                table.labels.push_back(static_cast<int32_t>(y));
                table.counts.push_back(tally[c * n_labels + y]);
            }
        table.offsets[c + 1] = static_cast<int64_t>(table.labels.size());
    }
    return table;
}

// Sorts the tokens into buckets by context, then counts each bucket with K counters.
CountTable count_checked(const int32_t* contexts, const int32_t* labels, size_t n, size_t n_contexts, size_t n_labels) {
    if (few_counters(n_contexts, n_labels)) return count_densely(contexts, labels, n, n_contexts, n_labels);
    std::vector<int64_t> start(n_contexts + 1, 0);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0) ++start[contexts[t] + 1];
    for (size_t c = 0; c < n_contexts; ++c) start[c + 1] += start[c];
    std::vector<int32_t> bucketed(start[n_contexts]);
    std::vector<int64_t> cursor(start.begin(), start.end() - 1);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0) bucketed[cursor[contexts[t]]++] = labels[t];

    CountTable table;
    table.offsets.assign(n_contexts + 1, 0);
    table.labels.reserve(bucketed.size());
    table.counts.reserve(bucketed.size());
    std::vector<int64_t> tally(n_labels, 0);
    std::vector<int32_t> touched;
    for (size_t c = 0; c < n_contexts; ++c) {
        const int64_t a = start[c], b = start[c + 1];
        if (b - a == 1) {
            table.labels.push_back(bucketed[a]);
            table.counts.push_back(1);
        } else if (b > a) {
            touched.clear();
            for (int64_t i = a; i < b; ++i)
                if (tally[bucketed[i]]++ == 0) touched.push_back(bucketed[i]);
            std::sort(touched.begin(), touched.end());
            for (const int32_t y : touched) {
                table.labels.push_back(y);
                table.counts.push_back(tally[y]);
                tally[y] = 0;
            }
        }
        table.offsets[c + 1] = static_cast<int64_t>(table.labels.size());
    }
    return table;
}

// Stacks tables.
CountTable joined(const std::vector<CountTable>& parts) {
    size_t rows = 0, entries = 0;
    for (const CountTable& part : parts) {
        rows += part.offsets.size() - 1;
        entries += part.labels.size();
    }
    CountTable all;
    all.offsets.reserve(rows + 1);
    all.labels.reserve(entries);
    all.counts.reserve(entries);
    for (const CountTable& part : parts) {
        const auto start = static_cast<int64_t>(all.labels.size());
        for (size_t c = 1; c < part.offsets.size(); ++c) all.offsets.push_back(start + part.offsets[c]);
        all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
    }
    return all;
}

}  // namespace

void LabelCounts::check(size_t n_labels) const {
    check_offsets(offsets, labels.size(), "table offsets and labels disagree");
    if (counts.size() != labels.size()) throw std::invalid_argument("table labels and counts disagree");
    check_labels(labels, n_labels);
}

CountTable count_table(std::span<const int32_t> contexts, std::span<const int32_t> labels, size_t n_contexts, size_t n_labels) {
    require(labels.size() == contexts.size(), "labels and contexts disagree in number");
    check_contexts(contexts.data(), labels.size(), n_contexts);
    check_token_labels(labels, n_labels);
    return count_checked(contexts.data(), labels.data(), labels.size(), n_contexts, n_labels);
}

CountTable count_tables(const Matrix<int32_t>& contexts, std::span<const int32_t> labels, std::span<const int64_t> sizes,
                        size_t n_labels, size_t threads) {
    const size_t kinds = contexts.rows(), n = contexts.columns(), parts = useful_threads(threads, kinds);
    require(labels.size() == n && sizes.size() == kinds, "contexts disagree with the number of labels or of sizes");
    check_token_labels(labels, n_labels);
    std::vector<CountTable> tables(kinds);
    in_parallel(parts, [&](size_t part) {
        for (size_t i = part; i < kinds; i += parts) {
            const auto size = static_cast<size_t>(sizes[i]);
            check_contexts(contexts.row(i), n, size);
            tables[i] = count_checked(contexts.row(i), labels.data(), n, size, n_labels);
        }
    });
    return joined(tables);
}

std::vector<int64_t> occurrences(std::span<const int32_t> ids, size_t n) {
    std::vector<int64_t> counts(n, 0);
    for (const int32_t id : ids) {
        if (id < 0 || static_cast<size_t>(id) >= n) throw std::invalid_argument("id out of range");
        ++counts[static_cast<size_t>(id)];
    }
    return counts;
}

void adjust_table(std::span<const int64_t> offsets, std::span<const int32_t> labels, std::span<int64_t> counts,
                  std::span<const int32_t> token_contexts, std::span<const int32_t> token_labels, int64_t change) {
    require(labels.size() == counts.size() && token_contexts.size() == token_labels.size(),
            "counts and labels, or labels and contexts, disagree in number");
    check_offsets(offsets, labels.size(), "table offsets and labels disagree");
    for (size_t t = 0; t < token_contexts.size(); ++t) {
        const int32_t c = token_contexts[t];
        if (c < 0) continue;
        if (static_cast<size_t>(c) + 1 >= offsets.size()) throw std::invalid_argument("context id out of range");
        const int64_t found = find_label(labels.data(), offsets[c], offsets[c + 1], token_labels[t]);
        if (found < 0) throw std::invalid_argument("a token was never counted");
        counts[static_cast<size_t>(found)] += change;
    }
}

PairCounts count_pairs(std::span<const int32_t> labels, std::span<const int64_t> sentences, size_t n_labels) {
    check_offsets(sentences, labels.size(), "sentence offsets and labels disagree");
    check_token_labels(labels, n_labels);
    KeyInterner pairs;
    std::vector<int64_t> seen;
    const auto boundary = static_cast<int64_t>(n_labels);
    const auto add = [&](int64_t left, int64_t right) {
        if (left < 0 || right < 0) return;
        const int32_t id = pairs.intern(static_cast<uint64_t>(left) << 32 | static_cast<uint64_t>(right));
        if (static_cast<size_t>(id) == seen.size()) seen.push_back(0);
        ++seen[id];
    };
    for (size_t s = 0; s + 1 < sentences.size(); ++s) {
        int64_t previous = boundary;
        for (int64_t i = sentences[s]; i < sentences[s + 1]; ++i) {
            add(previous, labels[i]);
            previous = labels[i];
        }
        if (sentences[s + 1] > sentences[s]) add(previous, boundary);
    }
    std::vector<int32_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return pairs.keys()[a] < pairs.keys()[b]; });
    PairCounts sorted;
    for (const int32_t i : order) {
        sorted.from.push_back(static_cast<int32_t>(pairs.keys()[i] >> 32));
        sorted.to.push_back(static_cast<int32_t>(pairs.keys()[i] & 0xffffffffu));
        sorted.counts.push_back(seen[i]);
    }
    return sorted;
}
