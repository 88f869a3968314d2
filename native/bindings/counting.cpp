// Binds counting/.
#include "counting/counting.h"
#include "bindings/bindings.h"
#include "bindings/views.h"
#include "counting/backoff.h"
#include "counting/contexts.h"
#include "counting/entries.h"
#include "counting/pooling.h"
#include "counting/token_scores.h"

namespace nanobind::detail {

template <>
struct type_caster<PairCounts> : result_caster<PairCounts, &PairCounts::from, &PairCounts::to, &PairCounts::counts> {};
template <>
struct type_caster<GroupedEntries> : result_caster<GroupedEntries, &GroupedEntries::entries, &GroupedEntries::sizes> {};
template <>
struct type_caster<PooledTokens>
    : fields_caster<PooledTokens, LabelCounts, Csr, Csr, Array<double>, double, std::optional<Array<int32_t>>> {};

// Entries are an array of (n, 3) uint64.
template <>
struct type_caster<std::vector<Entry>> {
    static constexpr auto Name = make_caster<Out2<uint64_t>>::Name;
    static handle from_cpp(std::vector<Entry>&& entries, rv_policy policy, cleanup_list* cleanup) {
        auto* held = new std::vector<Entry>(std::move(entries));
        capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<Entry>*>(p); });
        const Out2<uint64_t> out(reinterpret_cast<uint64_t*>(held->data()), {held->size(), 3}, owner);
        return make_caster<Out2<uint64_t>>::from_cpp(out, policy, cleanup);
    }
};

}  // namespace nanobind::detail

namespace {

nb::tuple backoff_lattice(const Backoff& backoff, const Array<int32_t>& words, const Matrix<int32_t>& ids,
                          const LabelCounts& left, const LabelCounts& right, const LabelCounts& class_left,
                          const LabelCounts& class_right, const Array<int32_t>& class_of, const LabelCounts& classes,
                          double pair_k, double class_k, int64_t rare, double threshold, size_t cap,
                          const std::optional<Array<int32_t>>& left_out) {
    const TokenContexts tokens{words, ids, left, right, class_left, class_right, class_of, classes, left_out};
    TokenScores scores = unlocked([&] { return token_scores(backoff, tokens, {pair_k, class_k, rare, threshold, cap}); });
    return to_tuple(std::move(scores.rows.offsets), std::move(scores.rows.labels), std::move(scores.rows.scores),
                    std::move(scores.left), std::move(scores.right), std::move(scores.by_class), std::move(scores.known));
}

void bind_counts(nb::module_& m) {
    m.def("count_table", &count_table, "contexts"_a, "labels"_a, "n_contexts"_a, "n_labels"_a, without_lock,
          "Label counts of each context: CSR offsets, labels in ascending order, counts. Negative contexts and labels are "
          "skipped.");
    m.def("count_tables", &count_tables, "contexts"_a, "labels"_a, "sizes"_a, "n_labels"_a, "threads"_a = 1, without_lock,
          "The stacked tables of several kinds of contexts, (kinds, n). Kind i has sizes[i] rows.");
    m.def("occurrences", &occurrences, "ids"_a, "n"_a, without_lock, "The number of occurrences of each id below n.");
    m.def("adjust_table", &adjust_table, "offsets"_a, "labels"_a, "counts"_a, "token_contexts"_a, "token_labels"_a, "change"_a,
          without_lock, "Add `change` to the count of each token's (context, label), in place.");
    m.def("count_entries", &count_entries, "keys"_a, "labels"_a, "first"_a, "bits"_a, without_lock,
          "Count the keys and labels of tokens: (entries as (n, 3) uint64: key, first place, label << 40 | count; the number of "
          "entries of each group of keys). Negative labels are skipped.");
    m.def("merge_entries", &merge_entries, "entries"_a, "by_place"_a, without_lock,
          "Add up entries of the same key and label. They are sorted by key and label, or by first place and label.");
    m.def("count_pairs", &count_pairs, "labels"_a, "offsets"_a, "n_labels"_a, without_lock,
          "How often label `to` follows label `from`, sorted. Id n_labels is the sentence boundary. A negative id is an unknown "
          "label, which forms no pair.");
}

void bind_contexts(nb::module_& m) {
    m.def(
        "class_contexts",
        [](const Array<uint64_t>& keys, const LabelCounts& pairs, bool word_is_first, const Array<int32_t>& class_of,
           const Array<int64_t>& totals, int64_t rare, size_t n_labels) {
            ClassContexts found =
                unlocked([&] { return class_contexts({keys, pairs, word_is_first}, class_of, totals, rare, n_labels); });
            return to_tuple(std::move(found.keys), std::move(found.table.offsets), std::move(found.table.labels),
                            std::move(found.table.counts));
        },
        "keys"_a, "pairs"_a, "word_is_first"_a, "class_of"_a, "totals"_a, "rare"_a, "n_labels"_a,
        "Sum the counts of (neighbour, rare word) pairs by (neighbour, class of the word): (keys, table).");
    m.def("context_weights", &context_weights, "table"_a, "centre"_a, "rows"_a, "k"_a, "weight"_a, without_lock,
          "weight * log(1 + n(c, y) / (k p(y))), where p is the row of the context's centre: a context's evidence as label "
          "weights. The term common to all labels is omitted.");
}

void bind_backoff(nb::module_& m) {
    nb::class_<Backoff>(m, "Backoff", "P(y | word) by back-off from counts. The counts must not change.")
        .def(
            "__init__",
            [](Backoff* self, const Array<int64_t>& offsets, const Array<int32_t>& labels, const Array<int64_t>& counts,
               const Matrix<int32_t>& level_ids,
               size_t n_labels) { new (self) Backoff({offsets, labels, counts}, level_ids, n_labels); },
            "offsets"_a, "labels"_a, "counts"_a, "level_ids"_a, "n_labels"_a)
        .def("derive", &Backoff::derive, "rung_k"_a, "rare"_a, "word_k"_a, "prior_k"_a, without_lock,
             "Derive rarity, types and prior.")
        .def(
            "distribution",
            [](const Backoff& backoff, size_t word, int32_t left_out) {
                backoff.require_derived();
                if (word >= backoff.n_words()) throw nb::index_error("word id out of range");
                std::vector<double> p;
                backoff.distribution(word, left_out, p);
                return p;
            },
            "word"_a, "left_out"_a = kNoToken, "P(y | word), leaving out one token with the label `left_out`.")
        .def("word_rows", &Backoff::word_rows, "threshold"_a, "cap"_a, without_lock,
             "log P(y | word) of each word's candidate labels, as CSR rows.")
        .def("level_shares", &Backoff::level_shares, "level"_a, without_lock,
             "The label shares of each context of a level, as CSR rows. The level after the last is the prior.")
        .def("lattice", &backoff_lattice, "words"_a, "ids"_a, "left"_a, "right"_a, "class_left"_a, "class_right"_a, "class_of"_a,
             "classes"_a, "pair_k"_a, "class_k"_a, "rare"_a, "threshold"_a, "cap"_a, "left_out"_a.none(),
             "Candidate labels of each token and the terms of their scores: (offsets, labels, log P(y | word), left, right, "
             "class, known). `ids` holds the four contexts of each token. `left_out` holds each token's own label, to leave it "
             "out.");
}

void bind_pooling(nb::module_& m) {
    m.def("expert_evidence", &expert_evidence, "tokens"_a, "expert_of"_a, "n_experts"_a, without_lock,
          "Evidence of each expert for each candidate label: (candidates, experts). Tokens are (table, features, candidates, "
          "prior, k, the labels that are left out or None).");
    m.def("pooled_scores", &pooled_scores, "tokens"_a, "feature_weight"_a, "threads"_a = 1, without_lock,
          "Weighted evidence for each candidate label of each token.");
    m.def(
        "conditional_logit",
        [](const Matrix<float>& x, const Csr& candidates, const Array<int64_t>& gold, const Array<double>& theta,
           size_t n_labels) {
            ConditionalLogit sums = unlocked([&] { return conditional_logit(x, candidates, gold, theta, n_labels); });
            const size_t size = sums.gradient.size();
            return nb::make_tuple(sums.loss, std::move(sums.gradient), NewMatrix<double>{std::move(sums.hessian), size, size});
        },
        "x"_a, "candidates"_a, "gold"_a, "theta"_a, "n_labels"_a,
        "-sum log softmax(x w + b)(gold) over candidates, its gradient and its Hessian in (w, b). Tokens with gold -1 are "
        "skipped.");
    m.def("pair_expectations", &pair_expectations, "sentences"_a, "candidates"_a, "posteriors"_a, "scores"_a, without_lock,
          "Expected label pairs if P(y, y') is proportional to P(y) P(y') exp(score): (K + 1, K + 1).");
}

}  // namespace

void bind_counting(nb::module_& m) {
    bind_counts(m);
    bind_contexts(m);
    bind_backoff(m);
    bind_pooling(m);
}
