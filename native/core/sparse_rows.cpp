// See sparse_rows.h.
#include "core/sparse_rows.h"

#include <algorithm>
#include <numeric>

namespace {

void merge(const LabelScores& a, const LabelScores& b, size_t r, SparseRows& sum) {
    int64_t i = a.offsets[r], j = b.offsets[r];
    const int64_t end_i = a.offsets[r + 1], end_j = b.offsets[r + 1];
    while (i < end_i && j < end_j) {
        if (a.labels[i] == b.labels[j]) {
            sum.add(a.labels[i], a.scores[i] + b.scores[j]);
            ++i, ++j;
        } else if (a.labels[i] < b.labels[j]) {
            sum.add(a.labels[i], a.scores[i]);
            ++i;
        } else {
            sum.add(b.labels[j], b.scores[j]);
            ++j;
        }
    }
    for (; i < end_i; ++i) sum.add(a.labels[i], a.scores[i]);
    for (; j < end_j; ++j) sum.add(b.labels[j], b.scores[j]);
    sum.end_row();
}

}  // namespace

void LabelUnion::take(std::vector<int32_t>& out) {
    if (labels_.empty()) {
        labels_.resize(seen_.size());
        std::iota(labels_.begin(), labels_.end(), 0);
    }
    std::sort(labels_.begin(), labels_.end());
    out.insert(out.end(), labels_.begin(), labels_.end());
    for (const int32_t y : labels_) seen_[static_cast<size_t>(y)] = 0;
    labels_.clear();
}

std::pair<std::vector<int64_t>, std::vector<int32_t>> seen_labels(const Csr& slots, const Csr& features, size_t n_labels) {
    std::pair<std::vector<int64_t>, std::vector<int32_t>> found{{0}, {}};
    auto& [offsets, labels] = found;
    check_offsets(slots.offsets, slots.ids.size(), "slot offsets and labels disagree");
    check_offsets(features.offsets, features.ids.size(), "feature offsets and ids disagree");
    check_labels(slots.ids, n_labels);
    LabelUnion own(n_labels);
    for (size_t t = 0; t < features.rows(); ++t) {
        for (int64_t i = features.offsets[t]; i < features.offsets[t + 1]; ++i) {
            const int32_t f = features.ids[i];
            if (f >= 0 && static_cast<size_t>(f) < slots.rows())
                own.add(slots.ids.data() + slots.offsets[f], slots.ids.data() + slots.offsets[f + 1]);
        }
        own.take(labels);
        offsets.push_back(static_cast<int64_t>(labels.size()));
    }
    return found;
}

SparseRows copied_rows(const LabelScores& rows, size_t n_labels, const char* what) {
    const auto& [offsets, labels, scores] = rows;
    check_offsets(offsets, labels.size(), what);
    if (labels.size() != scores.size()) throw std::invalid_argument(what);
    check_rising(offsets, labels, n_labels, what);
    return {{offsets.begin(), offsets.end()}, {labels.begin(), labels.end()}, {scores.begin(), scores.end()}};
}

void check_rows(const LabelScores& rows) {
    check_offsets(rows.offsets, rows.labels.size(), "row offsets and labels disagree");
    if (rows.scores.size() != rows.labels.size()) throw std::invalid_argument("row labels and scores disagree");
}

SparseRows add_rows(const LabelScores& a, const LabelScores& b) {
    check_rows(a);
    check_rows(b);
    require(a.offsets.size() == b.offsets.size(), "the two sets of rows disagree in number");
    const size_t rows = a.offsets.size() - 1, most = a.labels.size() + b.labels.size();
    SparseRows sum;
    sum.offsets.reserve(rows + 1);
    sum.labels.reserve(most);
    sum.scores.reserve(most);
    for (size_t r = 0; r < rows; ++r) merge(a, b, r, sum);
    return sum;
}

int64_t find_label(const int32_t* labels, int64_t first, int64_t last, int32_t label) {
    const int32_t* found = std::lower_bound(labels + first, labels + last, label);
    return found != labels + last && *found == label ? found - labels : -1;
}

std::vector<int64_t> find_in_rows(std::span<const int64_t> offsets, std::span<const int32_t> labels,
                                  std::span<const int32_t> wanted) {
    check_offsets(offsets, labels.size(), "row offsets and labels disagree");
    require(offsets.size() - 1 == wanted.size(), "wanted labels and rows disagree in number");
    std::vector<int64_t> found(wanted.size());
    for (size_t r = 0; r < found.size(); ++r) found[r] = find_label(labels.data(), offsets[r], offsets[r + 1], wanted[r]);
    return found;
}
