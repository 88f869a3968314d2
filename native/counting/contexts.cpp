// See contexts.h.
#include "counting/contexts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/logarithms.h"
#include "core/strings.h"
#include "core/vectors.h"
#include "features/feature_map.h"

namespace {

// The class context of each pair, -1 for none. Contexts are numbered in order of their first pair.
std::vector<int32_t> contexts_of_pairs(const PairTable& pairs, const Array<int32_t>& class_of, const Array<int64_t>& totals,
                                       int64_t rare, KeyInterner& contexts) {
    std::vector<int32_t> context_of(pairs.keys.size(), -1);
    for (size_t i = 0; i < context_of.size(); ++i) {
        const uint64_t first = pairs.keys[i] >> 32, second = pairs.keys[i] & 0xffffffffu;
        const uint64_t own = pairs.word_is_first ? first : second, other = pairs.word_is_first ? second : first;
        const int64_t w = static_cast<int64_t>(own) - kBoundaries;
        if (w < 0 || static_cast<size_t>(w) >= totals.size()) throw std::invalid_argument("word id out of range");
        if (totals[w] <= 0 || totals[w] > rare || class_of[w] < 0) continue;
        const auto cls = static_cast<uint64_t>(class_of[w]) + kBoundaries;
        context_of[i] = contexts.intern(pairs.word_is_first ? cls << 32 | other : other << 32 | cls);
    }
    return context_of;
}

// Members of groups in one array: group c is from ends[c] to ends[c + 1].
struct Groups {
    std::vector<size_t> ends;
    std::vector<int32_t> members;

    Groups(const std::vector<int32_t>& group_of, size_t groups) : ends(groups + 1, 0) {
        for (const int32_t c : group_of)
            if (c >= 0) ++ends[static_cast<size_t>(c) + 1];
        for (size_t c = 0; c < groups; ++c) ends[c + 1] += ends[c];
        members.resize(ends.back());
        std::vector<size_t> cursor(ends.begin(), ends.end() - 1);
        for (size_t i = 0; i < group_of.size(); ++i)
            if (group_of[i] >= 0) members[cursor[static_cast<size_t>(group_of[i])]++] = static_cast<int32_t>(i);
    }
};

}  // namespace

ClassContexts class_contexts(const PairTable& pairs, const Array<int32_t>& class_of, const Array<int64_t>& totals, int64_t rare,
                             size_t n_labels) {
    pairs.counts.check(n_labels);
    require(class_of.size() == totals.size(), "class ids and word totals disagree in number");
    require(pairs.counts.n_contexts() == pairs.keys.size(), "pair keys and pair table disagree");
    KeyInterner contexts;
    const std::vector<int32_t> context_of = contexts_of_pairs(pairs, class_of, totals, rare, contexts);
    const Groups groups(context_of, contexts.size());
    const LabelCounts& table = pairs.counts;
    ClassContexts out{contexts.keys(), {}};
    std::vector<int64_t> tally(n_labels, 0);
    std::vector<int32_t> touched;
    for (size_t c = 0; c < contexts.size(); ++c) {
        touched.clear();
        for (size_t m = groups.ends[c]; m < groups.ends[c + 1]; ++m) {
            const int32_t i = groups.members[m];
            for (int64_t j = table.offsets[i]; j < table.offsets[i + 1]; ++j) {
                if (table.counts[j] <= 0) continue;
                if (tally[table.labels[j]] == 0) touched.push_back(table.labels[j]);
                tally[table.labels[j]] += table.counts[j];
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const int32_t y : touched) {
            out.table.labels.push_back(y);
            out.table.counts.push_back(tally[y]);
            tally[y] = 0;
        }
        out.table.offsets.push_back(static_cast<int64_t>(out.table.labels.size()));
    }
    return out;
}

SparseRows context_weights(const LabelCounts& table, const Array<int32_t>& centre, const LabelScores& rows, double k,
                           double weight) {
    table.check(std::numeric_limits<int32_t>::max());
    check_rows(rows);
    require(centre.size() == table.n_contexts(), "contexts and their rows disagree in number");
    SparseRows out;
    for (size_t c = 0; c < table.n_contexts(); ++c) {
        const int32_t r = centre[c];
        if (r >= 0 && static_cast<size_t>(r) + 1 >= rows.offsets.size()) throw std::invalid_argument("row out of range");
        // A word with only one candidate label needs no more evidence.
        if (r >= 0 && rows.offsets[r + 1] - rows.offsets[r] > 1)
            for (int64_t i = table.offsets[c]; i < table.offsets[c + 1]; ++i) {
                const int64_t found = find_label(rows.labels.data(), rows.offsets[r], rows.offsets[r + 1], table.labels[i]);
                if (table.counts[i] <= 0 || found < 0) continue;
                const double p = fast_exp(static_cast<double>(rows.scores[found]));
                out.add(table.labels[i],
                        static_cast<float>(weight * portable_log1p(static_cast<double>(table.counts[i]) / (k * p))));
            }
        out.end_row();
    }
    return out;
}
