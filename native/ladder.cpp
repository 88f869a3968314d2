// The back-off ladder: P(y | word) from the word's own counts and from what similar words taught.
//
// A rung is a function of the word (its lower-case form, its class with its last four letters, ...). Its counts are of
// word types: each type with at most `rare` tokens gives each of its labels the share it had,
//
//     n_r(c, y) = sum over words w with rung_r(w) = c of n(w, y) / n(w)
//
// and the rungs are climbed from the general (the label prior) to the specific,
//
//     P_r(y) = (n_r(y) + k_r P_r+1(y)) / (n_r + k_r)            (a rung without types is passed over)
//     P(y | w) = (n(w, y) + k_w P_0(y)) / (n(w) + k_w)          (a word never seen keeps P_0)
//
// Neighbours correct it where the pair was seen:
//
//     left(y) = log P(y | w_left, w) / P(y | w),   P(y | w_left, w) = (n(y) + k_p P(y | w)) / (n + k_p)
//
// Leaving one out takes the token itself out of every count it was part of.
#include <algorithm>
#include <cmath>

#include "arrays.h"
#include "bindings.h"

namespace {

constexpr int32_t kNobody = -1;

class Ladder {
   public:
    Ladder(In<int64_t> offsets, In<int32_t> labels, In<int32_t> counts, In2<int32_t> rung_ids, size_t n_labels)
        : offsets_(offsets), labels_(labels), counts_(counts), rung_ids_(rung_ids), K_(n_labels) {
        const size_t words = n_words();
        if (rung_ids.shape(1) != words || labels.shape(0) != counts.shape(0) ||
            static_cast<size_t>(offsets(words)) != labels.shape(0))
            throw nb::value_error("word table and rung ids disagree");
        for (size_t i = 0; i < labels.shape(0); ++i)
            if (labels(i) < 0 || static_cast<size_t>(labels(i)) >= K_) throw nb::value_error("label id out of range");
        rungs_.resize(rung_ids.shape(0));
        for (size_t r = 0; r < rungs_.size(); ++r) collect_members(r);
    }

    // (Re)derive everything from the counts as they are now.
    void derive(std::vector<double> rung_k, std::vector<int64_t> rare, double word_k, double prior_k) {
        if (rung_k.size() != rungs_.size() || rare.size() != rungs_.size())
            throw nb::value_error("a constant k and a rarity limit are needed for each rung");
        word_k_ = word_k;
        totals_.assign(n_words(), 0);
        prior_.assign(K_, prior_k);
        double mass = prior_k * static_cast<double>(K_);
        for (size_t w = 0; w < n_words(); ++w)
            for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i) {
                totals_[w] += counts_(i);
                prior_[labels_(i)] += counts_(i);
                mass += counts_(i);
            }
        for (double& p : prior_) p /= mass;
        for (size_t r = 0; r < rungs_.size(); ++r) {
            rungs_[r].k = rung_k[r];
            rungs_[r].rare = rare[r];
            derive_rung(rungs_[r]);
        }
    }

    size_t n_words() const { return offsets_.shape(0) - 1; }
    size_t n_rungs() const { return rungs_.size(); }
    size_t n_contexts(size_t r) const { return rungs_.at(r).totals.size(); }
    const std::vector<double>& prior() const { return prior_; }

    // P(y | word) over all K labels into `p`. Starts at rung `first` (0 = most specific); `own` says whether the word's
    // own counts are used; `left_out` is the label of the one token to forget, or nobody. Returns whether it is known.
    bool distribution(size_t w, size_t first, bool own, int32_t left_out, std::vector<double>& p) const {
        const int64_t n = totals_[w];
        const int64_t n_left = n - (left_out != kNobody ? 1 : 0);
        p = prior_;
        for (size_t r = rungs_.size(); r-- > first;) climb(rungs_[r], rung_ids_(r, w), w, left_out, p);
        if (!own || n_left <= 0) return false;
        const double inverse = 1.0 / (static_cast<double>(n_left) + word_k_);
        for (double& value : p) value *= word_k_ * inverse;
        for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i)
            p[labels_(i)] += (counts_(i) - (labels_(i) == left_out ? 1 : 0)) * inverse;
        return true;
    }

    // The labels worth keeping: those within `threshold` of the best, at most `cap` of them, and all seen with the word.
    void candidates(const std::vector<double>& p, size_t w, bool known, double threshold, size_t cap,
                    std::vector<int32_t>& keep) const {
        keep.clear();
        const double floor = threshold * *std::max_element(p.begin(), p.end());
        for (size_t y = 0; y < K_; ++y)
            if (p[y] > 0.0 && p[y] >= floor) keep.push_back(static_cast<int32_t>(y));
        if (keep.size() > cap) {
            std::nth_element(keep.begin(), keep.begin() + static_cast<int64_t>(cap), keep.end(),
                             [&](int32_t a, int32_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
            keep.resize(cap);
            std::sort(keep.begin(), keep.end());
        }
        if (!known) return;
        const size_t kept = keep.size();
        for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i)
            if (counts_(i) > 0 && p[labels_(i)] > 0.0 &&
                !std::binary_search(keep.begin(), keep.begin() + static_cast<int64_t>(kept), labels_(i)))
                keep.push_back(labels_(i));
        std::sort(keep.begin(), keep.end());
    }

    int32_t rung_id(size_t r, size_t w) const { return rung_ids_(r, w); }
    // A word with that context at rung r, the first in order.
    int32_t representative(size_t r, size_t context) const {
        const Rung& rung = rungs_[r];
        return rung.member_offsets[context] == rung.member_offsets[context + 1]
                   ? kNobody
                   : rung.members[rung.member_offsets[context]];
    }
    double types(size_t r, size_t context) const { return rungs_[r].totals[context]; }

   private:
    struct Rung {
        std::vector<int64_t> member_offsets;  // words of each context
        std::vector<int32_t> members;
        double k = 1.0;
        int64_t rare = 0;
        std::vector<int64_t> offsets;  // derived: label shares of each context
        std::vector<int32_t> labels;
        std::vector<double> shares;
        std::vector<double> totals;  // types counted
    };

    void collect_members(size_t r) {
        Rung& rung = rungs_[r];
        int32_t top = -1;
        for (size_t w = 0; w < n_words(); ++w) top = std::max(top, rung_ids_(r, w));
        rung.member_offsets.assign(static_cast<size_t>(top) + 2, 0);
        for (size_t w = 0; w < n_words(); ++w)
            if (rung_ids_(r, w) >= 0) ++rung.member_offsets[rung_ids_(r, w) + 1];
        for (size_t c = 0; c + 1 < rung.member_offsets.size(); ++c) rung.member_offsets[c + 1] += rung.member_offsets[c];
        rung.members.resize(rung.member_offsets.back());
        std::vector<int64_t> cursor(rung.member_offsets.begin(), rung.member_offsets.end() - 1);
        for (size_t w = 0; w < n_words(); ++w)
            if (rung_ids_(r, w) >= 0) rung.members[cursor[rung_ids_(r, w)]++] = static_cast<int32_t>(w);
    }

    void derive_rung(Rung& rung) const {
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
                for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i) {
                    if (counts_(i) <= 0) continue;
                    if (tally[labels_(i)] == 0.0) touched.push_back(labels_(i));
                    tally[labels_(i)] += static_cast<double>(counts_(i)) / static_cast<double>(totals_[w]);
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

    // One rung up: p <- (n_r + k p) / (n_r + k), without the left-out token's share.
    void climb(const Rung& rung, int32_t context, size_t w, int32_t left_out, std::vector<double>& p) const {
        if (context < 0) return;
        const int64_t n = totals_[w];
        double total = rung.totals[context];
        const bool was = left_out != kNobody && n > 0 && n <= rung.rare;
        const bool stays = left_out != kNobody && n > 1 && n - 1 <= rung.rare;
        total += (stays ? 1.0 : 0.0) - (was ? 1.0 : 0.0);
        if (total < 0.5) return;
        const double inverse = 1.0 / (total + rung.k), scale = rung.k * inverse;
        for (double& value : p) value *= scale;
        for (int64_t i = rung.offsets[context]; i < rung.offsets[context + 1]; ++i)
            p[rung.labels[i]] += rung.shares[i] * inverse;
        if (!was && !stays) return;
        for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i) {
            double share = 0.0;
            if (was) share -= static_cast<double>(counts_(i)) / static_cast<double>(n);
            if (stays) share += static_cast<double>(counts_(i) - (labels_(i) == left_out ? 1 : 0)) / static_cast<double>(n - 1);
            double& value = p[labels_(i)];
            value = std::max(0.0, value + share * inverse);
        }
    }

    In<int64_t> offsets_;
    In<int32_t> labels_, counts_;
    In2<int32_t> rung_ids_;
    size_t K_;
    std::vector<Rung> rungs_;
    std::vector<int64_t> totals_;
    std::vector<double> prior_;
    double word_k_ = 1.0;
};

// log((n_y / p_y + k) / (n + k)) for each kept label: what seeing the neighbour adds to log P(y | w).
void neighbour(const int64_t* offsets, const int32_t* labels, const int32_t* counts, int32_t context, int32_t left_out,
               double k, const std::vector<double>& p, const std::vector<int32_t>& keep, float* out) {
    std::fill(out, out + keep.size(), 0.0f);
    if (context < 0) return;
    int64_t n = 0;
    for (int64_t i = offsets[context]; i < offsets[context + 1]; ++i)
        n += counts[i] - (labels[i] == left_out ? 1 : 0);
    if (n <= 0) return;
    const float unseen = static_cast<float>(std::log(k / (static_cast<double>(n) + k)));
    std::fill(out, out + keep.size(), unseen);
    for (int64_t i = offsets[context]; i < offsets[context + 1]; ++i) {
        const int64_t c = counts[i] - (labels[i] == left_out ? 1 : 0);
        if (c <= 0) continue;
        const auto found = std::lower_bound(keep.begin(), keep.end(), labels[i]);
        if (found == keep.end() || *found != labels[i]) continue;
        out[found - keep.begin()] =
            static_cast<float>(std::log((static_cast<double>(c) / p[labels[i]] + k) / (static_cast<double>(n) + k)));
    }
}

struct Rows {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> scores;
};

nb::tuple to_python(Rows&& rows) {
    return nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.labels)),
                          to_numpy(std::move(rows.scores)));
}

}  // namespace

void bind_ladder(nb::module_& m) {
    nb::class_<Ladder>(m, "Ladder", "P(y | word) by back-off from counts that may change under it (see derive).")
        .def(nb::init<In<int64_t>, In<int32_t>, In<int32_t>, In2<int32_t>, size_t>(), nb::arg("offsets"),
             nb::arg("labels"), nb::arg("counts"), nb::arg("rung_ids"), nb::arg("n_labels"))
        .def("derive", &Ladder::derive, nb::arg("rung_k"), nb::arg("rare"), nb::arg("word_k"), nb::arg("prior_k"),
             nb::call_guard<nb::gil_scoped_release>(), "Derive rarity, types and prior from the counts as they are now.")
        .def(
            "distribution",
            [](const Ladder& ladder, size_t word, int32_t left_out) {
                std::vector<double> p;
                if (word >= ladder.n_words()) throw nb::index_error("no such word");
                ladder.distribution(word, 0, true, left_out, p);
                return to_numpy(std::move(p));
            },
            nb::arg("word"), nb::arg("left_out") = kNobody, "P(y | word), one token of label `left_out` forgotten.")
        .def(
            "word_rows",
            [](const Ladder& ladder, double threshold, size_t cap) {
                Rows rows;
                {
                    nb::gil_scoped_release release;
                    std::vector<double> p;
                    std::vector<int32_t> keep;
                    for (size_t w = 0; w < ladder.n_words(); ++w) {
                        const bool known = ladder.distribution(w, 0, true, kNobody, p);
                        ladder.candidates(p, w, known, threshold, cap, keep);
                        for (const int32_t y : keep) {
                            rows.labels.push_back(y);
                            rows.scores.push_back(static_cast<float>(std::log(p[y])));
                        }
                        rows.offsets.push_back(static_cast<int64_t>(rows.labels.size()));
                    }
                }
                return to_python(std::move(rows));
            },
            nb::arg("threshold"), nb::arg("cap"), "log P(y | word) of each word's candidate labels, as CSR rows.")
        .def(
            "rung_rows",
            [](const Ladder& ladder, size_t rung, double threshold, size_t cap) {
                Rows rows;
                if (rung > ladder.n_rungs()) throw nb::index_error("no such rung");
                {
                    nb::gil_scoped_release release;
                    std::vector<double> p;
                    std::vector<int32_t> keep;
                    const bool prior = rung == ladder.n_rungs();
                    const size_t contexts = prior ? 1 : ladder.n_contexts(rung);
                    for (size_t c = 0; c < contexts; ++c) {
                        const bool empty = !prior && ladder.types(rung, c) < 0.5;
                        if (!empty) {
                            if (prior)
                                p = ladder.prior();
                            else
                                ladder.distribution(ladder.representative(rung, c), rung, false, kNobody, p);
                            ladder.candidates(p, 0, false, threshold, cap, keep);
                            for (const int32_t y : keep) {
                                rows.labels.push_back(y);
                                rows.scores.push_back(static_cast<float>(std::log(p[y])));
                            }
                        }
                        rows.offsets.push_back(static_cast<int64_t>(rows.labels.size()));
                    }
                }
                return to_python(std::move(rows));
            },
            nb::arg("rung"), nb::arg("threshold"), nb::arg("cap"),
            "log P(y) for unknown words of each context of a rung (the rung past the last is the prior), as CSR rows; "
            "a context without types has an empty row.")
        .def(
            "lattice",
            [](const Ladder& ladder, In<int32_t> words, In<int32_t> left_ids, In<int32_t> right_ids,
               std::tuple<In<int64_t>, In<int32_t>, In<int32_t>> left, std::tuple<In<int64_t>, In<int32_t>, In<int32_t>> right,
               double pair_k, double threshold, size_t cap, std::optional<In<int32_t>> left_out) {
                const size_t n = words.shape(0);
                Rows rows;
                std::vector<float> from_left, from_right;
                std::vector<uint8_t> is_known(n);
                {
                    nb::gil_scoped_release release;
                    std::vector<double> p;
                    std::vector<int32_t> keep;
                    std::vector<float> buffer;
                    int64_t cached_word = -1;
                    bool known = false;
                    for (size_t t = 0; t < n; ++t) {
                        const auto w = static_cast<size_t>(words(t));
                        if (w >= ladder.n_words()) throw nb::value_error("word id out of range");
                        const int32_t out = left_out ? (*left_out)(t) : kNobody;
                        if (out != kNobody || cached_word != static_cast<int64_t>(w)) {
                            known = ladder.distribution(w, 0, true, out, p);
                            ladder.candidates(p, w, known, threshold, cap, keep);
                            cached_word = out == kNobody ? static_cast<int64_t>(w) : -1;
                        }
                        is_known[t] = known;
                        buffer.resize(keep.size());
                        for (const int32_t y : keep) {
                            rows.labels.push_back(y);
                            rows.scores.push_back(static_cast<float>(std::log(p[y])));
                        }
                        neighbour(std::get<0>(left).data(), std::get<1>(left).data(), std::get<2>(left).data(),
                                  left_ids(t), out, pair_k, p, keep, buffer.data());
                        from_left.insert(from_left.end(), buffer.begin(), buffer.end());
                        neighbour(std::get<0>(right).data(), std::get<1>(right).data(), std::get<2>(right).data(),
                                  right_ids(t), out, pair_k, p, keep, buffer.data());
                        from_right.insert(from_right.end(), buffer.begin(), buffer.end());
                        rows.offsets.push_back(static_cast<int64_t>(rows.labels.size()));
                    }
                }
                return nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.labels)),
                                      to_numpy(std::move(rows.scores)), to_numpy(std::move(from_left)),
                                      to_numpy(std::move(from_right)), to_numpy(std::move(is_known)));
            },
            nb::arg("words"), nb::arg("left_ids"), nb::arg("right_ids"), nb::arg("left"), nb::arg("right"),
            nb::arg("pair_k"), nb::arg("threshold"), nb::arg("cap"), nb::arg("left_out").none(),
            "Candidate labels of each token with the three parts of its score: (offsets, labels, log P(y | word), left, "
            "right, known). `left_out` holds the tokens' own labels where one is to be left out.");
}
