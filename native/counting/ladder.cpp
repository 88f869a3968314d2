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
// A word's own type is taken out of its rungs: they say what other words teach about it.
//
// Neighbours correct it where the pair was seen:
//
//     left(y) = log P(y | w_left, w) / P(y | w),   P(y | w_left, w) = (n(y) + k_p P(y | w)) / (n + k_p)
//
// For a word never seen, neighbours are judged through its class (case, digits, hyphens), counted on rare words:
//
//     context(y) = log P(y | w_left, class) / P(y | class), and the same on the right.
//
// Leaving one out takes the token itself out of every count it was part of (of the rungs its word is out already).
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/strings.h"

namespace {

constexpr int32_t kNobody = -1;

class Ladder {
   public:
    Ladder(In<int64_t> offsets, In<int32_t> labels, In<int32_t> counts, In2<int32_t> rung_ids, size_t n_labels)
        : offsets_(offsets), labels_(labels), counts_(counts), rung_ids_(rung_ids), K_(n_labels) {
        check_offsets(offsets, labels.shape(0), "word table offsets and labels disagree");
        if (rung_ids.shape(1) != n_words() || labels.shape(0) != counts.shape(0))
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
        mass_ = prior_k * static_cast<double>(K_);
        for (size_t w = 0; w < n_words(); ++w)
            for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i) {
                totals_[w] += counts_(i);
                prior_[labels_(i)] += counts_(i);
                mass_ += counts_(i);
            }
        for (double& p : prior_) p /= mass_;
        for (size_t r = 0; r < rungs_.size(); ++r) {
            rungs_[r].k = rung_k[r];
            rungs_[r].rare = rare[r];
            derive_rung(rungs_[r]);
        }
    }

    void require_derived() const {
        if (prior_.empty()) throw nb::value_error("derive the ladder first");
    }
    size_t n_words() const { return offsets_.shape(0) - 1; }
    size_t n_rungs() const { return rungs_.size(); }
    size_t n_labels() const { return K_; }
    size_t n_entries() const { return labels_.shape(0); }
    int64_t total(size_t w) const { return totals_[w]; }
    // Where a label stands in the table of a word, -1 where it was not counted with it.
    int64_t find(size_t w, int32_t label) const {
        const int32_t *first = labels_.data() + offsets_(w), *last = labels_.data() + offsets_(w + 1);
        const int32_t* found = std::lower_bound(first, last, label);
        return found != last && *found == label ? found - labels_.data() : -1;
    }
    size_t n_contexts(size_t r) const { return rungs_.at(r).totals.size(); }
    const std::vector<double>& prior() const { return prior_; }

    // P(y | word) over all K labels into `p`. Starts at rung `first` (0 = most specific); `own` says whether the word's
    // own counts are used; `left_out` is the label of the one token to forget, or nobody. Returns whether it is known.
    //
    // The climb is unrolled: p = sum_r a_r n_r + a prior, with a_r the product of k / (n + k) of the rungs below r and
    // 1 / (n_r + k_r), so that only the prior is a pass over all labels.
    bool distribution(size_t w, size_t first, bool own, int32_t left_out, std::vector<double>& p) const {
        if (left_out != kNobody && (left_out < 0 || static_cast<size_t>(left_out) >= K_)) throw nb::value_error("label id out of range");
        const int64_t n = totals_[w] - (left_out != kNobody ? 1 : 0);
        const bool known = own && n > 0;
        const double inverse = known ? 1.0 / (static_cast<double>(n) + word_k_) : 1.0;
        double scale = known ? word_k_ * inverse : 1.0;
        coefficients_.resize(rungs_.size());
        for (size_t r = first; r < rungs_.size(); ++r) {
            const double types = types_without(rungs_[r], rung_ids_(r, w), w, own);
            coefficients_[r] = types < 0.5 ? 0.0 : scale / (types + rungs_[r].k);
            if (types >= 0.5) scale *= rungs_[r].k / (types + rungs_[r].k);
        }
        p.resize(K_);
        // The prior, without the token left out.
        const double left = mass_ - (left_out != kNobody ? 1.0 : 0.0);
        const double share = left > 0.0 ? scale * mass_ / left : scale;
        for (size_t y = 0; y < K_; ++y) p[y] = share * prior_[y];
        if (left_out != kNobody && left > 0.0) p[left_out] = std::max(0.0, p[left_out] - scale / left);
        for (size_t r = first; r < rungs_.size(); ++r)
            if (coefficients_[r] > 0.0) add_shares(rungs_[r], rung_ids_(r, w), w, own, coefficients_[r], p);
        if (!known) return false;
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
    // P(y) of an unknown word of which no more than its context at rung r is known, into `p`: the mean over the first words
    // with that context, at most `most`. One will do where all of them have the same more general rungs.
    void unknown(size_t r, size_t context, int64_t most, std::vector<double>& p) const {
        const Rung& rung = rungs_[r];
        const int64_t begin = rung.member_offsets[context], end = std::min(rung.member_offsets[context + 1], begin + most);
        distribution(static_cast<size_t>(rung.members[begin]), r, false, kNobody, p);
        if (end - begin == 1) return;
        std::vector<double> other;
        for (int64_t m = begin + 1; m < end; ++m) {
            distribution(static_cast<size_t>(rung.members[m]), r, false, kNobody, other);
            for (size_t y = 0; y < K_; ++y) p[y] += other[y];
        }
        for (double& x : p) x /= static_cast<double>(end - begin);
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
        if (top >= 0 && static_cast<size_t>(top) >= n_words()) throw nb::value_error("more contexts at a rung than words");
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

    // A word learns from other words at a rung: its own type is taken out where it is asked about itself.
    bool inside(const Rung& rung, size_t w, bool own) const { return own && totals_[w] > 0 && totals_[w] <= rung.rare; }

    double types_without(const Rung& rung, int32_t context, size_t w, bool own) const {
        return context < 0 ? 0.0 : rung.totals[context] - (inside(rung, w, own) ? 1.0 : 0.0);
    }

    void add_shares(const Rung& rung, int32_t context, size_t w, bool own, double coefficient, std::vector<double>& p) const {
        for (int64_t i = rung.offsets[context]; i < rung.offsets[context + 1]; ++i)
            p[rung.labels[i]] += coefficient * rung.shares[i];
        if (!inside(rung, w, own)) return;
        const double share = coefficient / static_cast<double>(totals_[w]);
        for (int64_t i = offsets_(w); i < offsets_(w + 1); ++i) {
            double& value = p[labels_(i)];
            value = std::max(0.0, value - share * counts_(i));
        }
    }

    In<int64_t> offsets_;
    In<int32_t> labels_, counts_;
    In2<int32_t> rung_ids_;
    size_t K_;
    std::vector<Rung> rungs_;
    std::vector<int64_t> totals_;
    std::vector<double> prior_;
    double mass_ = 0.0;  // tokens behind the prior, smoothing included
    double word_k_ = 1.0;
    mutable std::vector<double> coefficients_;  // work memory: a ladder is used by one thread at a time
};

// Candidate labels and probabilities of words, whole or with a token of some label left out. Tokens of a word with the same
// label have the same row, so each is computed once.
class WordRows {
   public:
    struct Row {
        const int32_t* labels;
        const double* p;
        const float* log_p;
        size_t width;
        bool known;
    };

    WordRows(const Ladder& ladder, double threshold, size_t cap)
        : ladder_(ladder), threshold_(threshold), cap_(cap), whole_(ladder.n_words(), -1), less_(ladder.n_entries(), -1) {}

    // Valid until the next call.
    Row get(size_t w, int32_t left_out) {
        int32_t never = -1;  // a label that the word was not counted with
        const int64_t entry = left_out == kNobody ? -1 : ladder_.find(w, left_out);
        int32_t& place = left_out == kNobody ? whole_[w] : entry >= 0 ? less_[static_cast<size_t>(entry)] : never;
        if (place < 0) {
            place = static_cast<int32_t>(known_.size());
            add(w, left_out);
        }
        const auto r = static_cast<size_t>(place);
        const size_t first = offsets_[r];
        return {labels_.data() + first, p_.data() + first, log_p_.data() + first, offsets_[r + 1] - first, known_[r] != 0};
    }

   private:
    void add(size_t w, int32_t left_out) {
        const bool known = ladder_.distribution(w, 0, true, left_out, dense_);
        ladder_.candidates(dense_, w, known, threshold_, cap_, keep_);
        for (const int32_t y : keep_) {
            labels_.push_back(y);
            p_.push_back(dense_[static_cast<size_t>(y)]);
            log_p_.push_back(static_cast<float>(std::log(p_.back())));
        }
        offsets_.push_back(labels_.size());
        known_.push_back(known);
    }

    const Ladder& ladder_;
    double threshold_;
    size_t cap_;
    std::vector<int32_t> whole_, less_;  // the row of each word, and of each (word, label) that was counted
    std::vector<size_t> offsets_{0};
    std::vector<int32_t> labels_, keep_;
    std::vector<double> p_, dense_;
    std::vector<float> log_p_;
    std::vector<uint8_t> known_;
};

// A table of label counts, one row a context, labels rising.
struct Counts {
    const int64_t* offsets;
    const int32_t* labels;
    const int32_t* counts;
    size_t n_contexts;

    Counts(const std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>& arrays, size_t n_labels)
        : offsets(std::get<0>(arrays).data()),
          labels(std::get<1>(arrays).data()),
          counts(std::get<2>(arrays).data()),
          n_contexts(std::get<0>(arrays).shape(0) - 1) {
        const size_t n = std::get<1>(arrays).shape(0);
        check_offsets(std::get<0>(arrays), n, "table offsets and labels disagree");
        if (std::get<2>(arrays).shape(0) != n) throw nb::value_error("table labels and counts disagree");
        for (size_t i = 0; i < n; ++i)
            if (labels[i] < 0 || static_cast<size_t>(labels[i]) >= n_labels) throw nb::value_error("label id out of range");
    }
};

// Adds log((n_y / p_y + k) / (n + k)) for each of `width` kept labels: what seeing the context adds to log p.
void add_context(const Counts& table, int32_t context, int32_t left_out, double k, const double* p, const int32_t* keep,
                 size_t width, float* out) {
    if (context < 0) return;
    if (static_cast<size_t>(context) >= table.n_contexts) throw nb::value_error("context id out of range");
    const int64_t first = table.offsets[context], last = table.offsets[context + 1];
    int64_t n = 0;
    for (int64_t i = first; i < last; ++i) n += table.counts[i] - (table.labels[i] == left_out ? 1 : 0);
    if (n <= 0) return;
    const double unseen = std::log(k / (static_cast<double>(n) + k));
    for (size_t j = 0; j < width; ++j) out[j] += static_cast<float>(unseen);
    for (int64_t i = first; i < last; ++i) {
        const int64_t c = table.counts[i] - (table.labels[i] == left_out ? 1 : 0);
        const int32_t* found = std::lower_bound(keep, keep + width, table.labels[i]);
        if (c > 0 && found != keep + width && *found == table.labels[i])
            out[found - keep] += static_cast<float>(std::log1p(static_cast<double>(c) / (k * p[found - keep])));
    }
}

// (n(class, y) + 1) / (n(class) + K), one token of label left_out forgotten.
void class_distribution(const Counts& classes, int32_t context, int32_t left_out, size_t n_labels, std::vector<double>& p) {
    p.assign(n_labels, 1.0);
    double n = static_cast<double>(n_labels);
    for (int64_t i = classes.offsets[context]; i < classes.offsets[context + 1]; ++i) {
        const int32_t c = classes.counts[i] - (classes.labels[i] == left_out ? 1 : 0);
        p[classes.labels[i]] += c;
        n += c;
    }
    for (double& value : p) value /= n;
}

struct Rows {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> scores;
};

using Table = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>;

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
                ladder.require_derived();
                std::vector<double> p;
                if (word >= ladder.n_words()) throw nb::index_error("no such word");
                ladder.distribution(word, 0, true, left_out, p);
                return to_numpy(std::move(p));
            },
            nb::arg("word"), nb::arg("left_out") = kNobody, "P(y | word), one token of label `left_out` forgotten.")
        .def(
            "word_rows",
            [](const Ladder& ladder, double threshold, size_t cap) {
                ladder.require_derived();
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
            [](const Ladder& ladder, size_t rung, double threshold, size_t cap, int64_t words) {
                ladder.require_derived();
                Rows rows;
                if (rung > ladder.n_rungs()) throw nb::index_error("no such rung");
                if (words < 1) throw nb::value_error("a row needs at least one word");
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
                                ladder.unknown(rung, c, words, p);
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
            nb::arg("rung"), nb::arg("threshold"), nb::arg("cap"), nb::arg("words") = 1,
            "log P(y) for unknown words of each context of a rung (the rung past the last is the prior), as CSR rows, "
            "each the mean over that many words of its context; a context without types has an empty row.")
        .def(
            "lattice",
            [](const Ladder& ladder, In<int32_t> words, In2<int32_t> ids, Table left, Table right, Table class_left,
               Table class_right, In<int32_t> class_of, Table classes, double pair_k, double class_k, int64_t rare,
               double threshold, size_t cap, std::optional<In<int32_t>> left_out) {
                const size_t n = words.shape(0);
                if (ids.shape(0) != 4 || ids.shape(1) != n || class_of.shape(0) != ladder.n_words() ||
                    (left_out && left_out->shape(0) != n))
                    throw nb::value_error("tokens, contexts and classes disagree");
                ladder.require_derived();
                const size_t K = ladder.n_labels();
                const Counts lefts(left, K), rights(right, K), class_lefts(class_left, K), class_rights(class_right, K),
                    by_class(classes, K);
                Rows rows;
                std::vector<float> from_left, from_right, from_class;
                std::vector<uint8_t> is_known(n);
                {
                    nb::gil_scoped_release release;
                    WordRows words_met(ladder, threshold, cap);
                    std::vector<double> q, kept;
                    for (size_t t = 0; t < n; ++t) {
                        const auto w = static_cast<size_t>(words(t));
                        if (w >= ladder.n_words()) throw nb::value_error("word id out of range");
                        const int32_t out = left_out ? (*left_out)(t) : kNobody;
                        const WordRows::Row row = words_met.get(w, out);
                        is_known[t] = row.known;
                        const size_t at = rows.labels.size();
                        rows.labels.insert(rows.labels.end(), row.labels, row.labels + row.width);
                        rows.scores.insert(rows.scores.end(), row.log_p, row.log_p + row.width);
                        from_left.resize(rows.labels.size(), 0.0f);
                        from_right.resize(rows.labels.size(), 0.0f);
                        from_class.resize(rows.labels.size(), 0.0f);
                        rows.offsets.push_back(static_cast<int64_t>(rows.labels.size()));
                        if (row.known) {
                            add_context(lefts, ids(0, t), out, pair_k, row.p, row.labels, row.width, from_left.data() + at);
                            add_context(rights, ids(1, t), out, pair_k, row.p, row.labels, row.width, from_right.data() + at);
                        } else if (class_of(w) >= 0 && static_cast<size_t>(class_of(w)) < by_class.n_contexts) {
                            const int32_t own = ladder.total(w) > 0 && ladder.total(w) <= rare ? out : kNobody;
                            class_distribution(by_class, class_of(w), own, ladder.n_labels(), q);
                            kept.resize(row.width);
                            for (size_t j = 0; j < row.width; ++j) kept[j] = q[row.labels[j]];
                            add_context(class_lefts, ids(2, t), own, class_k, kept.data(), row.labels, row.width, from_class.data() + at);
                            add_context(class_rights, ids(3, t), own, class_k, kept.data(), row.labels, row.width, from_class.data() + at);
                        }
                    }
                }
                return nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.labels)),
                                      to_numpy(std::move(rows.scores)), to_numpy(std::move(from_left)),
                                      to_numpy(std::move(from_right)), to_numpy(std::move(from_class)),
                                      to_numpy(std::move(is_known)));
            },
            nb::arg("words"), nb::arg("ids"), nb::arg("left"), nb::arg("right"), nb::arg("class_left"),
            nb::arg("class_right"), nb::arg("class_of"), nb::arg("classes"), nb::arg("pair_k"), nb::arg("class_k"),
            nb::arg("rare"), nb::arg("threshold"), nb::arg("cap"), nb::arg("left_out").none(),
            "Candidate labels of each token with the parts of its score: (offsets, labels, log P(y | word), left, right, "
            "class, known). `ids` are the four contexts of each token, `left_out` its own label where it is to be forgotten.");
    m.def(
        "class_contexts",
        [](In<uint64_t> keys, Table pairs, bool word_is_first, In<int32_t> class_of, In<int64_t> totals, int64_t rare,
           size_t n_labels) {
            const Counts table(pairs, n_labels);
            if (class_of.shape(0) != totals.shape(0)) throw nb::value_error("one class a word is needed");
            if (table.n_contexts != keys.shape(0)) throw nb::value_error("pair keys and pair table disagree");
            std::vector<uint64_t> contexts;
            std::vector<int64_t> offsets{0};
            std::vector<int32_t> labels, counts;
            {
                nb::gil_scoped_release release;
                KeyInterner interner;
                std::vector<int32_t> context_of(keys.shape(0), -1);
                for (size_t i = 0; i < context_of.size(); ++i) {
                    const uint64_t own = word_is_first ? keys(i) >> 32 : keys(i) & 0xffffffffu;
                    const uint64_t other = word_is_first ? keys(i) & 0xffffffffu : keys(i) >> 32;
                    const int64_t w = static_cast<int64_t>(own) - 16;
                    if (w < 0 || static_cast<size_t>(w) >= totals.shape(0)) throw nb::value_error("word id out of range");
                    if (totals(w) <= 0 || totals(w) > rare || class_of(w) < 0) continue;
                    const auto cls = static_cast<uint64_t>(class_of(w)) + 16;
                    context_of[i] = interner.intern(word_is_first ? cls << 32 | other : other << 32 | cls);
                }
                contexts = interner.keys();
                // The pairs of each context, side by side.
                std::vector<size_t> ends(contexts.size() + 1, 0);
                for (const int32_t c : context_of)
                    if (c >= 0) ++ends[static_cast<size_t>(c) + 1];
                for (size_t c = 0; c < contexts.size(); ++c) ends[c + 1] += ends[c];
                std::vector<int32_t> members(ends.back());
                std::vector<size_t> cursor(ends.begin(), ends.end() - 1);
                for (size_t i = 0; i < context_of.size(); ++i)
                    if (context_of[i] >= 0) members[cursor[static_cast<size_t>(context_of[i])]++] = static_cast<int32_t>(i);
                std::vector<int32_t> tally(n_labels, 0), touched;
                for (size_t c = 0; c < contexts.size(); ++c) {
                    touched.clear();
                    for (size_t m = ends[c]; m < ends[c + 1]; ++m) {
                        const int32_t i = members[m];
                        for (int64_t j = table.offsets[i]; j < table.offsets[i + 1]; ++j) {
                            if (table.counts[j] <= 0) continue;
                            if (tally[table.labels[j]] == 0) touched.push_back(table.labels[j]);
                            tally[table.labels[j]] += table.counts[j];
                        }
                    }
                    std::sort(touched.begin(), touched.end());
                    for (const int32_t y : touched) {
                        labels.push_back(y);
                        counts.push_back(tally[y]);
                        tally[y] = 0;
                    }
                    offsets.push_back(static_cast<int64_t>(labels.size()));
                }
            }
            return nb::make_tuple(to_numpy(std::move(contexts)), to_numpy(std::move(offsets)), to_numpy(std::move(labels)),
                                  to_numpy(std::move(counts)));
        },
        nb::arg("keys"), nb::arg("pairs"), nb::arg("word_is_first"), nb::arg("class_of"), nb::arg("totals"),
        nb::arg("rare"), nb::arg("n_labels"),
        "From counts of (neighbour, word) pairs those of (neighbour, class of the word), over rare words: (keys, table).");
    m.def(
        "match_keys",
        [](In<uint64_t> known, In<uint64_t> query) {
            std::vector<int32_t> ids(query.shape(0));
            {
                nb::gil_scoped_release release;
                KeyInterner keys;
                keys.reserve(known.shape(0));
                for (size_t i = 0; i < known.shape(0); ++i) keys.intern(known(i));
                for (size_t i = 0; i < ids.size(); ++i) ids[i] = keys.find(query(i));
            }
            return to_numpy(std::move(ids));
        },
        nb::arg("known"), nb::arg("query"), "Position of each query key among the known (distinct) ones, or -1.");
    m.def(
        "context_weights",
        [](Table table, In<int32_t> centre, std::tuple<In<int64_t>, In<int32_t>, In<float>> rows, double k, double weight) {
            const Counts counts(table, std::numeric_limits<int32_t>::max());
            const auto& [offsets, labels, log_p] = rows;
            check_offsets(offsets, labels.shape(0), "row offsets and labels disagree");
            if (log_p.shape(0) != labels.shape(0)) throw nb::value_error("row labels and scores disagree");
            if (centre.shape(0) != counts.n_contexts) throw nb::value_error("one distribution a context is needed");
            Rows out;
            {
                nb::gil_scoped_release release;
                for (size_t c = 0; c < counts.n_contexts; ++c) {
                    const int32_t r = centre(c);
                    if (r >= 0 && static_cast<size_t>(r) + 1 >= offsets.shape(0)) throw nb::value_error("row out of range");
                    // A word with one candidate label needs no more evidence.
                    if (r >= 0 && offsets(r + 1) - offsets(r) > 1) {
                        const int32_t* first = labels.data() + offsets(r);
                        const int32_t* last = labels.data() + offsets(r + 1);
                        for (int64_t i = counts.offsets[c]; i < counts.offsets[c + 1]; ++i) {
                            const int32_t* found = std::lower_bound(first, last, counts.labels[i]);
                            if (counts.counts[i] <= 0 || found == last || *found != counts.labels[i]) continue;
                            const double p = std::exp(static_cast<double>(log_p(found - labels.data())));
                            out.labels.push_back(counts.labels[i]);
                            out.scores.push_back(static_cast<float>(weight * std::log1p(counts.counts[i] / (k * p))));
                        }
                    }
                    out.offsets.push_back(static_cast<int64_t>(out.labels.size()));
                }
            }
            return to_python(std::move(out));
        },
        nb::arg("table"), nb::arg("centre"), nb::arg("rows"), nb::arg("k"), nb::arg("weight"),
        "weight * log(1 + n(c, y) / (k p(y))), p the row of the context's centre: a context's evidence as label weights. "
        "The part common to all labels is left out.");
}
