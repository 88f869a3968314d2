// See backoff.h.
#include "counting/backoff.h"

#include <algorithm>
#include <cmath>

#include "core/likely_labels.h"
#include "core/logarithms.h"

Backoff::Backoff(LabelCounts words, Matrix<int32_t> level_ids, size_t n_labels)
    : words_(std::move(words)), level_ids_(std::move(level_ids)), K_(n_labels) {
    check_offsets(words_.offsets, words_.labels.size(), "word table offsets and labels disagree");
    if (level_ids_.columns() != n_words() || words_.labels.size() != words_.counts.size())
        throw std::invalid_argument("word table and level ids disagree");
    check_labels(words_.labels, K_);
    levels_.resize(level_ids_.rows());
    for (size_t r = 0; r < levels_.size(); ++r) collect_members(r);
}

void Backoff::require_derived() const {
    if (prior_.empty()) throw std::invalid_argument("call derive first");
}

void Backoff::derive(const std::vector<double>& rung_k, const std::vector<int64_t>& rare, double word_k, double prior_k) {
    if (rung_k.size() != levels_.size() || rare.size() != levels_.size())
        throw std::invalid_argument("each level needs a constant k and a rarity limit");
    word_k_ = word_k;
    totals_.assign(n_words(), 0);
    prior_.assign(K_, prior_k);
    mass_ = prior_k * static_cast<double>(K_);
    for (size_t w = 0; w < n_words(); ++w)
        for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i) {
            totals_[w] += words_.counts[i];
            prior_[words_.labels[i]] += words_.counts[i];
            mass_ += words_.counts[i];
        }
    for (double& p : prior_) p /= mass_;
    for (size_t r = 0; r < levels_.size(); ++r) {
        levels_[r].k = rung_k[r];
        if (!levels_[r].offsets.empty() && levels_[r].rare == rare[r]) continue;  // k is applied later: shares stay
        levels_[r].rare = rare[r];
        derive_level(levels_[r]);
    }
}

void Backoff::collect_members(size_t r) {
    Level& level = levels_[r];
    int32_t top = -1;
    for (size_t w = 0; w < n_words(); ++w) top = std::max(top, level_ids_(r, w));
    if (top >= 0 && static_cast<size_t>(top) >= n_words()) throw std::invalid_argument("a level has more contexts than words");
    level.member_offsets.assign(static_cast<size_t>(top) + 2, 0);
    for (size_t w = 0; w < n_words(); ++w)
        if (level_ids_(r, w) >= 0) ++level.member_offsets[level_ids_(r, w) + 1];
    for (size_t c = 0; c + 1 < level.member_offsets.size(); ++c) level.member_offsets[c + 1] += level.member_offsets[c];
    level.members.resize(level.member_offsets.back());
    std::vector<int64_t> cursor(level.member_offsets.begin(), level.member_offsets.end() - 1);
    for (size_t w = 0; w < n_words(); ++w)
        if (level_ids_(r, w) >= 0) level.members[cursor[level_ids_(r, w)]++] = static_cast<int32_t>(w);
}

void Backoff::derive_level(Level& level) const {
    const size_t contexts = level.member_offsets.size() - 1;
    level.offsets.assign(1, 0);
    level.labels.clear();
    level.shares.clear();
    level.totals.assign(contexts, 0.0);
    std::vector<double> tally(K_, 0.0);
    std::vector<int32_t> touched;
    for (size_t c = 0; c < contexts; ++c) {
        touched.clear();
        for (int64_t m = level.member_offsets[c]; m < level.member_offsets[c + 1]; ++m) {
            const int32_t w = level.members[m];
            if (totals_[w] <= 0 || totals_[w] > level.rare) continue;
            level.totals[c] += 1.0;
            for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i) {
                if (words_.counts[i] <= 0) continue;
                if (tally[words_.labels[i]] == 0.0) touched.push_back(words_.labels[i]);
                tally[words_.labels[i]] += static_cast<double>(words_.counts[i]) / static_cast<double>(totals_[w]);
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const int32_t y : touched) {
            level.labels.push_back(y);
            level.shares.push_back(tally[y]);
            tally[y] = 0.0;
        }
        level.offsets.push_back(static_cast<int64_t>(level.labels.size()));
    }
}

void Backoff::add_shares(const Level& level, int32_t context, size_t w, double coefficient, std::vector<double>& p) const {
    for (int64_t i = level.offsets[context]; i < level.offsets[context + 1]; ++i)
        p[level.labels[i]] += coefficient * level.shares[i];
    if (!inside(level, w)) return;
    const double share = coefficient / static_cast<double>(totals_[w]);
    for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i) {
        double& value = p[words_.labels[i]];
        value = std::max(0.0, value - share * words_.counts[i]);
    }
}

// The back-off is unrolled: p = sum_r a_r n_r + a prior, where a_r is the product of k / (n + k) over the levels below r, times
// 1 / (n_r + k_r). Only the prior needs a loop over all labels.
bool Backoff::distribution(size_t w, int32_t left_out, std::vector<double>& p) const {
    if (left_out != kNoToken && (left_out < 0 || static_cast<size_t>(left_out) >= K_))
        throw std::invalid_argument("label id out of range");
    const int64_t n = totals_[w] - (left_out != kNoToken ? 1 : 0);
    const bool known = n > 0;
    const double inverse = known ? 1.0 / (static_cast<double>(n) + word_k_) : 1.0;
    double scale = known ? word_k_ * inverse : 1.0;
    coefficients_.resize(levels_.size());
    for (size_t r = 0; r < levels_.size(); ++r) {
        const double types = types_without(levels_[r], level_ids_(r, w), w);
        coefficients_[r] = types < 0.5 ? 0.0 : scale / (types + levels_[r].k);
        if (types >= 0.5) scale *= levels_[r].k / (types + levels_[r].k);
    }
    p.resize(K_);
    // The prior, without the token that is left out.
    const double left = mass_ - (left_out != kNoToken ? 1.0 : 0.0);
    const double share = left > 0.0 ? scale * mass_ / left : scale;
    for (size_t y = 0; y < K_; ++y) p[y] = share * prior_[y];
    if (left_out != kNoToken && left > 0.0) p[left_out] = std::max(0.0, p[left_out] - scale / left);
    for (size_t r = 0; r < levels_.size(); ++r)
        if (coefficients_[r] > 0.0) add_shares(levels_[r], level_ids_(r, w), w, coefficients_[r], p);
    if (!known) return false;
    for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i)
        p[words_.labels[i]] += (words_.counts[i] - (words_.labels[i] == left_out ? 1 : 0)) * inverse;
    return true;
}

void Backoff::candidates(const std::vector<double>& p, size_t w, bool known, double threshold, size_t cap,
                         std::vector<int32_t>& keep) const {
    likely_labels(p, threshold, cap, keep);
    if (!known) return;
    const size_t kept = keep.size();
    for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i)
        if (words_.counts[i] > 0 && p[words_.labels[i]] > 0.0 &&
            !std::binary_search(keep.begin(), keep.begin() + static_cast<int64_t>(kept), words_.labels[i]))
            keep.push_back(words_.labels[i]);
    std::sort(keep.begin(), keep.end());
}

SparseRows Backoff::word_rows(double threshold, size_t cap) const {
    require_derived();
    SparseRows rows;
    std::vector<double> p;
    std::vector<int32_t> keep;
    for (size_t w = 0; w < n_words(); ++w) {
        const bool known = distribution(w, kNoToken, p);
        candidates(p, w, known, threshold, cap, keep);
        for (const int32_t y : keep) rows.add(y, static_cast<float>(portable_log(p[y])));
        rows.end_row();
    }
    return rows;
}

SparseRows Backoff::level_shares(size_t level) const {
    require_derived();
    if (level > n_levels()) throw std::out_of_range("level number out of range");
    SparseRows rows;
    if (level == n_levels()) {
        for (size_t y = 0; y < K_; ++y) rows.add(static_cast<int32_t>(y), static_cast<float>(prior_[y]));
        rows.end_row();
        return rows;
    }
    const Level& from = levels_[level];
    rows.offsets = from.offsets;
    rows.labels = from.labels;
    rows.scores.assign(from.shares.begin(), from.shares.end());
    return rows;
}
