// See ladder.h.
#include "counting/ladder.h"

#include <algorithm>
#include <cmath>

#include "core/likely_labels.h"
#include "core/logarithms.h"

Ladder::Ladder(LabelCounts words, Matrix<int32_t> rung_ids, size_t n_labels)
    : words_(std::move(words)), rung_ids_(std::move(rung_ids)), K_(n_labels) {
    check_offsets(words_.offsets, words_.labels.size(), "word table offsets and labels disagree");
    if (rung_ids_.columns() != n_words() || words_.labels.size() != words_.counts.size())
        throw std::invalid_argument("word table and rung ids disagree");
    check_labels(words_.labels, K_);
    rungs_.resize(rung_ids_.rows());
    for (size_t r = 0; r < rungs_.size(); ++r) collect_members(r);
}

void Ladder::require_derived() const {
    if (prior_.empty()) throw std::invalid_argument("call derive first");
}

void Ladder::derive(const std::vector<double>& rung_k, const std::vector<int64_t>& rare, double word_k, double prior_k) {
    if (rung_k.size() != rungs_.size() || rare.size() != rungs_.size())
        throw std::invalid_argument("each rung needs a constant k and a rarity limit");
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
    for (size_t r = 0; r < rungs_.size(); ++r) {
        rungs_[r].k = rung_k[r];
        if (!rungs_[r].offsets.empty() && rungs_[r].rare == rare[r]) continue;  // k is applied later: shares stay
        rungs_[r].rare = rare[r];
        derive_rung(rungs_[r]);
    }
}

void Ladder::collect_members(size_t r) {
    Rung& rung = rungs_[r];
    int32_t top = -1;
    for (size_t w = 0; w < n_words(); ++w) top = std::max(top, rung_ids_(r, w));
    if (top >= 0 && static_cast<size_t>(top) >= n_words()) throw std::invalid_argument("a rung has more contexts than words");
    rung.member_offsets.assign(static_cast<size_t>(top) + 2, 0);
    for (size_t w = 0; w < n_words(); ++w)
        if (rung_ids_(r, w) >= 0) ++rung.member_offsets[rung_ids_(r, w) + 1];
    for (size_t c = 0; c + 1 < rung.member_offsets.size(); ++c) rung.member_offsets[c + 1] += rung.member_offsets[c];
    rung.members.resize(rung.member_offsets.back());
    std::vector<int64_t> cursor(rung.member_offsets.begin(), rung.member_offsets.end() - 1);
    for (size_t w = 0; w < n_words(); ++w)
        if (rung_ids_(r, w) >= 0) rung.members[cursor[rung_ids_(r, w)]++] = static_cast<int32_t>(w);
}

void Ladder::derive_rung(Rung& rung) const {
    const size_t contexts = rung.member_offsets.size() - 1;
    rung.offsets.assign(1, 0);
    rung.labels.clear();
    rung.shares.clear();
    rung.totals.assign(contexts, 0.0);
    std::vector<double> tally(K_, 0.0);
    std::vector<int32_t> touched;
    for (size_t c = 0; c < contexts; ++c) {
        touched.clear();
        for (int64_t m = rung.member_offsets[c]; m < rung.member_offsets[c + 1]; ++m) {
            const int32_t w = rung.members[m];
            if (totals_[w] <= 0 || totals_[w] > rung.rare) continue;
            rung.totals[c] += 1.0;
            for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i) {
                if (words_.counts[i] <= 0) continue;
                if (tally[words_.labels[i]] == 0.0) touched.push_back(words_.labels[i]);
                tally[words_.labels[i]] += static_cast<double>(words_.counts[i]) / static_cast<double>(totals_[w]);
            }
        }
        std::sort(touched.begin(), touched.end());
        for (const int32_t y : touched) {
            rung.labels.push_back(y);
            rung.shares.push_back(tally[y]);
            tally[y] = 0.0;
        }
        rung.offsets.push_back(static_cast<int64_t>(rung.labels.size()));
    }
}

void Ladder::add_shares(const Rung& rung, int32_t context, size_t w, double coefficient, std::vector<double>& p) const {
    for (int64_t i = rung.offsets[context]; i < rung.offsets[context + 1]; ++i) p[rung.labels[i]] += coefficient * rung.shares[i];
    if (!inside(rung, w)) return;
    const double share = coefficient / static_cast<double>(totals_[w]);
    for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i) {
        double& value = p[words_.labels[i]];
        value = std::max(0.0, value - share * words_.counts[i]);
    }
}

// The back-off is unrolled: p = sum_r a_r n_r + a prior, where a_r is the product of k / (n + k) over the rungs below r, times
// 1 / (n_r + k_r). Only the prior needs a loop over all labels.
bool Ladder::distribution(size_t w, int32_t left_out, std::vector<double>& p) const {
    if (left_out != kNoToken && (left_out < 0 || static_cast<size_t>(left_out) >= K_))
        throw std::invalid_argument("label id out of range");
    const int64_t n = totals_[w] - (left_out != kNoToken ? 1 : 0);
    const bool known = n > 0;
    const double inverse = known ? 1.0 / (static_cast<double>(n) + word_k_) : 1.0;
    double scale = known ? word_k_ * inverse : 1.0;
    coefficients_.resize(rungs_.size());
    for (size_t r = 0; r < rungs_.size(); ++r) {
        const double types = types_without(rungs_[r], rung_ids_(r, w), w);
        coefficients_[r] = types < 0.5 ? 0.0 : scale / (types + rungs_[r].k);
        if (types >= 0.5) scale *= rungs_[r].k / (types + rungs_[r].k);
    }
    p.resize(K_);
    // The prior, without the token that is left out.
    const double left = mass_ - (left_out != kNoToken ? 1.0 : 0.0);
    const double share = left > 0.0 ? scale * mass_ / left : scale;
    for (size_t y = 0; y < K_; ++y) p[y] = share * prior_[y];
    if (left_out != kNoToken && left > 0.0) p[left_out] = std::max(0.0, p[left_out] - scale / left);
    for (size_t r = 0; r < rungs_.size(); ++r)
        if (coefficients_[r] > 0.0) add_shares(rungs_[r], rung_ids_(r, w), w, coefficients_[r], p);
    if (!known) return false;
    for (int64_t i = words_.offsets[w]; i < words_.offsets[w + 1]; ++i)
        p[words_.labels[i]] += (words_.counts[i] - (words_.labels[i] == left_out ? 1 : 0)) * inverse;
    return true;
}

void Ladder::candidates(const std::vector<double>& p, size_t w, bool known, double threshold, size_t cap,
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

SparseRows Ladder::word_rows(double threshold, size_t cap) const {
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

SparseRows Ladder::rung_shares(size_t rung) const {
    SparseRows rows;
    if (rung == n_rungs()) {
        for (size_t y = 0; y < K_; ++y) rows.add(static_cast<int32_t>(y), static_cast<float>(prior_[y]));
        rows.end_row();
        return rows;
    }
    const Rung& from = rungs_[rung];
    rows.offsets = from.offsets;
    rows.labels = from.labels;
    rows.scores.assign(from.shares.begin(), from.shares.end());
    return rows;
}
