// See token_scores.h, and backoff.h for the formulas.
#include "counting/token_scores.h"

#include <algorithm>
#include <cmath>

#include "core/logarithms.h"

namespace {

// Candidate labels and probabilities of words, with or without leaving out one token. Tokens of a word with the same label
// share a row, so each row is computed once.
class WordRows {
   public:
    struct Row {
        const int32_t* labels;
        const double* p;
        const float* log_p;
        size_t width;
        bool known;
    };

    WordRows(const Backoff& backoff, double threshold, size_t cap)
        : backoff_(backoff), threshold_(threshold), cap_(cap), whole_(backoff.n_words(), -1), less_(backoff.n_entries(), -1) {}

    // Valid until the next call.
    Row get(size_t w, int32_t left_out) {
        int32_t never = -1;  // for a label that was not counted with the word
        const int64_t entry = left_out == kNoToken ? -1 : backoff_.find(w, left_out);
        int32_t& place = left_out == kNoToken ? whole_[w] : entry >= 0 ? less_[static_cast<size_t>(entry)] : never;
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
        const bool known = backoff_.distribution(w, left_out, dense_);
        backoff_.candidates(dense_, w, known, threshold_, cap_, keep_);
        for (const int32_t y : keep_) {
            labels_.push_back(y);
            p_.push_back(dense_[static_cast<size_t>(y)]);
            log_p_.push_back(static_cast<float>(portable_log(p_.back())));
        }
        offsets_.push_back(labels_.size());
        known_.push_back(known);
    }

    const Backoff& backoff_;
    double threshold_;
    size_t cap_;
    std::vector<int32_t> whole_, less_;  // the row of each word, and of each counted (word, label)
    std::vector<size_t> offsets_{0};
    std::vector<int32_t> labels_, keep_;
    std::vector<double> p_, dense_;
    std::vector<float> log_p_;
    std::vector<uint8_t> known_;
};

// Adds log((n_y / p_y + k) / (n + k)) for each of `width` kept labels: the context's contribution to log p.
void add_context(const LabelCounts& table, int32_t context, int32_t left_out, double k, const double* p, const int32_t* keep,
                 size_t width, float* out) {
    if (context < 0) return;
    if (static_cast<size_t>(context) >= table.n_contexts()) throw std::invalid_argument("context id out of range");
    const int64_t first = table.offsets[context], last = table.offsets[context + 1];
    int64_t n = 0;
    for (int64_t i = first; i < last; ++i) n += table.counts[i] - (table.labels[i] == left_out ? 1 : 0);
    if (n <= 0) return;
    const double unseen = portable_log(k / (static_cast<double>(n) + k));
    for (size_t j = 0; j < width; ++j) out[j] += static_cast<float>(unseen);
    for (int64_t i = first; i < last; ++i) {
        const int64_t c = table.counts[i] - (table.labels[i] == left_out ? 1 : 0);
        const int32_t* found = std::lower_bound(keep, keep + width, table.labels[i]);
        if (c > 0 && found != keep + width && *found == table.labels[i])
            out[found - keep] += static_cast<float>(portable_log1p(static_cast<double>(c) / (k * p[found - keep])));
    }
}

// (n(class, y) + 1) / (n(class) + K), leaving out one token with the label left_out.
void class_distribution(const LabelCounts& classes, int32_t context, int32_t left_out, size_t n_labels, std::vector<double>& p) {
    p.assign(n_labels, 1.0);
    double n = static_cast<double>(n_labels);
    for (int64_t i = classes.offsets[context]; i < classes.offsets[context + 1]; ++i) {
        const int64_t c = classes.counts[i] - (classes.labels[i] == left_out ? 1 : 0);
        p[classes.labels[i]] += static_cast<double>(c);
        n += static_cast<double>(c);
    }
    for (double& value : p) value /= n;
}

}  // namespace

TokenScores token_scores(const Backoff& backoff, const TokenContexts& tokens, const TokenScoreOptions& options) {
    const size_t n = tokens.words.size(), K = backoff.n_labels();
    require(tokens.ids.rows() == 4 && tokens.ids.columns() == n && tokens.class_of.size() == backoff.n_words() &&
                (!tokens.left_out || tokens.left_out->size() == n),
            "tokens, contexts and classes disagree");
    for (const LabelCounts* counts : {&tokens.left, &tokens.right, &tokens.class_left, &tokens.class_right, &tokens.classes})
        counts->check(K);
    backoff.require_derived();
    TokenScores out;
    out.known.resize(n);
    WordRows word_rows(backoff, options.threshold, options.cap);
    std::vector<double> q, kept;
    for (size_t t = 0; t < n; ++t) {
        const auto w = static_cast<size_t>(tokens.words[t]);
        if (w >= backoff.n_words()) throw std::invalid_argument("word id out of range");
        const int32_t left_out = tokens.left_out ? (*tokens.left_out)[t] : kNoToken;
        const WordRows::Row row = word_rows.get(w, left_out);
        out.known[t] = row.known;
        const size_t at = out.rows.labels.size();
        out.rows.labels.insert(out.rows.labels.end(), row.labels, row.labels + row.width);
        out.rows.scores.insert(out.rows.scores.end(), row.log_p, row.log_p + row.width);
        out.rows.end_row();
        for (std::vector<float>* part : {&out.left, &out.right, &out.by_class}) part->resize(out.rows.labels.size(), 0.0f);
        const auto add = [&](const LabelCounts& table, size_t kind, int32_t forgotten, double k, const double* p, float* scores) {
            add_context(table, tokens.ids(kind, t), forgotten, k, p, row.labels, row.width, scores + at);
        };
        const int32_t cls = tokens.class_of[w];
        if (row.known) {
            add(tokens.left, 0, left_out, options.pair_k, row.p, out.left.data());
            add(tokens.right, 1, left_out, options.pair_k, row.p, out.right.data());
        } else if (cls >= 0 && static_cast<size_t>(cls) < tokens.classes.n_contexts()) {
            const int32_t own = backoff.total(w) > 0 && backoff.total(w) <= options.rare ? left_out : kNoToken;
            class_distribution(tokens.classes, cls, own, K, q);
            kept.resize(row.width);
            for (size_t j = 0; j < row.width; ++j) kept[j] = q[row.labels[j]];
            add(tokens.class_left, 2, own, options.class_k, kept.data(), out.by_class.data());
            add(tokens.class_right, 3, own, options.class_k, kept.data(), out.by_class.data());
        }
    }
    return out;
}
