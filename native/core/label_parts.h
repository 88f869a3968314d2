// Labels that share parts, such as NOUN|Case=Gen|Number=Sing. A feature may have weights for parts beside those for labels:
//
//     node(y) = W(f, y) + sum over parts p of y of W(f, p)
//
// Columns of weights are labels (below K), then parts: part p is column K + p. The columns of some candidates are the candidates
// and then the parts that they have, ascending. Scores are summed by column and then added up by `fold`; residuals of labels
// become residuals of columns by `unfold`.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/array.h"

class LabelParts {
   public:
    LabelParts() = default;
    // The parts of each label, ascending. The labels are as many as the rows.
    LabelParts(const Csr& parts, size_t n_parts)
        : offsets_(parts.offsets.begin(), parts.offsets.end()), ids_(parts.ids.begin(), parts.ids.end()), n_parts_(n_parts) {
        check_offsets(offsets_, ids_.size(), "parts and labels disagree");
        check_rising(offsets_, ids_, n_parts, "parts of labels are out of range or out of order");
    }

    bool empty() const { return n_parts_ == 0; }
    size_t size() const { return n_parts_; }
    size_t n_labels() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }

    // Appends the columns of candidates.
    void add_columns(const int32_t* candidates, size_t width, std::vector<int32_t>& columns) const {
        thread_local std::vector<uint64_t> seen;
        seen.assign((n_parts_ + 63) / 64, 0);
        for (size_t j = 0; j < width; ++j)
            each(candidates[j], [&](int32_t p) { seen[static_cast<size_t>(p) / 64] |= uint64_t{1} << (p % 64); });
        columns.insert(columns.end(), candidates, candidates + width);
        const auto first = static_cast<int32_t>(n_labels());
        for (size_t i = 0; i < seen.size(); ++i)
            for (uint64_t bits = seen[i]; bits != 0; bits &= bits - 1)
                columns.push_back(first + static_cast<int32_t>(64 * i) + std::countr_zero(bits));
    }

    // to(y) += from(y) + sum over parts p of y of from(p). `from` is by column, `to` by candidate.
    template <typename Real>
    void fold(const int32_t* columns, size_t n_columns, size_t width, const Real* from, Real* to) const {
        const int32_t* place = places(columns, n_columns, width);
        for (size_t j = 0; j < width; ++j) {
            Real sum = from[j];
            each(columns[j], [&](int32_t p) { sum += from[place[p]]; });
            to[j] += sum;
        }
    }
    // to(y) = from(y), and to(p) = sum over candidates y that have p of from(y).
    template <typename Real>
    void unfold(const int32_t* columns, size_t n_columns, size_t width, const Real* from, std::vector<Real>& to) const {
        const int32_t* place = places(columns, n_columns, width);
        to.assign(n_columns, Real(0));
        for (size_t j = 0; j < width; ++j) {
            to[j] = from[j];
            each(columns[j], [&](int32_t p) { to[static_cast<size_t>(place[p])] += from[j]; });
        }
    }

    // Rows of labels, with the columns of their parts added.
    std::pair<std::vector<int64_t>, std::vector<int32_t>> with_columns(const Csr& rows) const {
        std::pair<std::vector<int64_t>, std::vector<int32_t>> found;
        auto& [offsets, columns] = found;
        check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
        check_labels(rows.ids, n_labels());
        offsets.assign(1, 0);
        for (size_t r = 0; r < rows.rows(); ++r) {
            const int64_t first = rows.offsets[r];
            add_columns(rows.ids.data() + first, static_cast<size_t>(rows.offsets[r + 1] - first), columns);
            offsets.push_back(static_cast<int64_t>(columns.size()));
        }
        return found;
    }

   private:
    template <typename Use>
    void each(int32_t label, Use use) const {
        for (int64_t i = offsets_[label]; i < offsets_[label + 1]; ++i) use(ids_[i]);
    }
    // Where each part is among the columns. It is valid until the next call.
    const int32_t* places(const int32_t* columns, size_t n_columns, size_t width) const {
        thread_local std::vector<int32_t> place;
        if (place.size() < n_parts_) place.resize(n_parts_);
        const auto first = static_cast<int32_t>(n_labels());
        for (size_t i = width; i < n_columns; ++i) place[static_cast<size_t>(columns[i] - first)] = static_cast<int32_t>(i);
        return place.data();
    }

    std::vector<int64_t> offsets_;
    std::vector<int32_t> ids_;
    size_t n_parts_ = 0;
};
