// Binds counting/.

#include <limits>

#include "bindings/bindings.h"
#include "bindings/views.h"
#include "counting/backoff.h"
#include "counting/contexts.h"
#include "counting/counting.h"
#include "counting/entries.h"
#include "counting/pooling.h"
#include "counting/token_scores.h"

namespace {

nb::tuple to_python(CountTable&& table) {
    return to_tuple(std::move(table.offsets), std::move(table.labels), std::move(table.counts));
}

// Entries as an array of (n, 3) uint64.
Out2<uint64_t> to_python(std::vector<Entry>&& entries) {
    auto* held = new std::vector<Entry>(std::move(entries));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<Entry>*>(p); });
    return Out2<uint64_t>(reinterpret_cast<uint64_t*>(held->data()), {held->size(), 3}, owner);
}

nb::tuple lattice(const Backoff& backoff, const In<int32_t>& words, const In2<int32_t>& ids, const LabelCountArrays& left,
                  const LabelCountArrays& right, const LabelCountArrays& class_left, const LabelCountArrays& class_right,
                  const In<int32_t>& class_of, const LabelCountArrays& classes, double pair_k, double class_k, int64_t rare,
                  double threshold, size_t cap, const std::optional<In<int32_t>>& left_out) {
    const size_t n = words.shape(0), K = backoff.n_labels();
    if (ids.shape(0) != 4 || ids.shape(1) != n || class_of.shape(0) != backoff.n_words() || (left_out && left_out->shape(0) != n))
        throw nb::value_error("tokens, contexts and classes disagree");
    backoff.require_derived();
    const TokenContexts tokens{
        view(words),    view(ids),           checked(left, K), checked(right, K), checked(class_left, K), checked(class_right, K),
        view(class_of), checked(classes, K), view(left_out)};
    TokenScores scores = unlocked([&] { return token_scores(backoff, tokens, {pair_k, class_k, rare, threshold, cap}); });
    return to_tuple(std::move(scores.rows.offsets), std::move(scores.rows.labels), std::move(scores.rows.scores),
                    std::move(scores.left), std::move(scores.right), std::move(scores.by_class), std::move(scores.known));
}

PooledTokens tokens_of(const LabelCountArrays& table, const CsrArrays& features, const CsrArrays& candidates,
                       const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out) {
    PooledTokens tokens{view(table), view(features), view(candidates), view(prior), k, view(left_out)};
    tokens.check();
    return tokens;
}

nb::tuple bound_conditional_logit(const In2<float>& x, const CsrArrays& candidate_arrays, const In<int64_t>& gold,
                                  const In<double>& theta, size_t n_labels) {
    const Csr candidates = view(candidate_arrays);
    const auto& [places, labels] = candidates;
    const size_t size = x.shape(1) + n_labels, n = gold.shape(0);
    check_offsets(places, labels.size(), "candidate offsets and labels disagree");
    if (x.shape(0) != labels.size() || candidates.rows() != n || theta.shape(0) != size)
        throw nb::value_error("evidence, candidates and weights disagree");
    check_labels(labels, n_labels);
    ConditionalLogit sums = unlocked([&] { return conditional_logit(view(x), candidates, view(gold), view(theta), n_labels); });
    return nb::make_tuple(sums.loss, to_numpy(std::move(sums.gradient)), to_numpy(std::move(sums.hessian), size, size));
}

Out2<double> bound_pair_expectations(const In<int64_t>& sentences, const CsrArrays& candidate_arrays, const In<float>& posteriors,
                                     const In2<double>& scores) {
    const Csr candidates = view(candidate_arrays);
    const size_t size = scores.shape(0);
    check_offsets(candidates.offsets, candidates.ids.size(), "candidate offsets and labels disagree");
    check_offsets(view(sentences), candidates.rows(), "sentence offsets and candidates disagree");
    if (scores.shape(1) != size || size < 2 || candidates.ids.size() != posteriors.shape(0))
        throw nb::value_error("candidates, posteriors and edge scores disagree");
    check_labels(candidates.ids, size - 1);
    return to_numpy(unlocked([&] { return pair_expectations(view(sentences), candidates, view(posteriors), view(scores)); }),
                    size, size);
}

void bind_counts(nb::module_& m) {
    m.def(
        "count_table",
        [](const In<int32_t>& contexts, const In<int32_t>& labels, size_t n_contexts, size_t n_labels) {
            if (labels.shape(0) != contexts.shape(0)) throw nb::value_error("labels and contexts disagree in number");
            return to_python(unlocked([&] { return count_table(contexts.data(), view(labels), n_contexts, n_labels); }));
        },
        "contexts"_a, "labels"_a, "n_contexts"_a, "n_labels"_a,
        "Label counts of each context: CSR offsets, labels in ascending order, counts. Negative contexts and labels are "
        "skipped.");
    m.def(
        "count_tables",
        [](const In2<int32_t>& contexts, const In<int32_t>& labels, const In<int64_t>& sizes, size_t n_labels, size_t threads) {
            if (labels.shape(0) != contexts.shape(1) || sizes.shape(0) != contexts.shape(0))
                throw nb::value_error("contexts disagree with the number of labels or of sizes");
            return to_python(
                unlocked([&] { return count_tables(view(contexts), view(labels), view(sizes), n_labels, threads); }));
        },
        "contexts"_a, "labels"_a, "sizes"_a, "n_labels"_a, "threads"_a = 1,
        "The stacked tables of several kinds of contexts, (kinds, n). Kind i has sizes[i] rows.");
    m.def(
        "occurrences",
        [](const In<int32_t>& ids, size_t n) { return to_numpy(unlocked([&] { return occurrences(view(ids), n); })); }, "ids"_a,
        "n"_a, "The number of occurrences of each id below n.");
    m.def(
        "adjust_table",
        [](const In<int64_t>& offsets, const In<int32_t>& labels, const InOut<int64_t>& counts, const In<int32_t>& token_contexts,
           const In<int32_t>& token_labels, int64_t change) {
            if (labels.shape(0) != counts.shape(0) || token_contexts.shape(0) != token_labels.shape(0))
                throw nb::value_error("counts and labels, or labels and contexts, disagree in number");
            const Csr table{view(offsets), view(labels)};
            check_offsets(table.offsets, table.ids.size(), "table offsets and labels disagree");
            unlocked([&] { adjust_table(table, writable(counts), view(token_contexts), view(token_labels), change); });
        },
        "offsets"_a, "labels"_a, "counts"_a, "token_contexts"_a, "token_labels"_a, "change"_a,
        "Add `change` to the count of each token's (context, label), in place.");
    m.def(
        "count_entries",
        [](const In<uint64_t>& keys, const In<int32_t>& labels, uint64_t first, int bits) {
            GroupedEntries found = unlocked([&] { return count_entries(view(keys), view(labels), first, bits); });
            return nb::make_tuple(to_python(std::move(found.entries)), to_numpy(std::move(found.sizes)));
        },
        "keys"_a, "labels"_a, "first"_a, "bits"_a,
        "Count the keys and labels of tokens: (entries as (n, 3) uint64: key, first place, label << 40 | count; the number of "
        "entries of each group of keys). Negative labels are skipped.");
    m.def(
        "merge_entries",
        [](const In2<uint64_t>& entries, bool by_place) {
            if (entries.shape(1) != 3) throw nb::value_error("an entry has three numbers");
            const auto* begin = reinterpret_cast<const Entry*>(entries.data());
            return to_python(
                unlocked([&] { return merge_entries(std::vector<Entry>(begin, begin + entries.shape(0)), by_place); }));
        },
        "entries"_a, "by_place"_a,
        "Add up entries of the same key and label. They are sorted by key and label, or by first place and label.");
    m.def(
        "count_pairs",
        [](const In<int32_t>& labels, const In<int64_t>& offsets, size_t n_labels) {
            check_offsets(view(offsets), labels.shape(0), "sentence offsets and labels disagree");
            PairCounts pairs = unlocked([&] { return count_pairs(view(labels), view(offsets), n_labels); });
            return to_tuple(std::move(pairs.from), std::move(pairs.to), std::move(pairs.counts));
        },
        "labels"_a, "offsets"_a, "n_labels"_a,
        "How often label `to` follows label `from`, sorted. Id n_labels is the sentence boundary. A negative id is an unknown "
        "label, which forms no pair.");
}

void bind_contexts(nb::module_& m) {
    m.def(
        "class_contexts",
        [](const In<uint64_t>& keys, const LabelCountArrays& pairs, bool word_is_first, const In<int32_t>& class_of,
           const In<int64_t>& totals, int64_t rare, size_t n_labels) {
            const PairTable table{view(keys), checked(pairs, n_labels), word_is_first};
            if (class_of.shape(0) != totals.shape(0)) throw nb::value_error("class ids and word totals disagree in number");
            if (table.counts.n_contexts() != table.keys.size()) throw nb::value_error("pair keys and pair table disagree");
            ClassContexts found = unlocked([&] { return class_contexts(table, view(class_of), view(totals), rare, n_labels); });
            return to_tuple(std::move(found.keys), std::move(found.table.offsets), std::move(found.table.labels),
                            std::move(found.table.counts));
        },
        "keys"_a, "pairs"_a, "word_is_first"_a, "class_of"_a, "totals"_a, "rare"_a, "n_labels"_a,
        "Sum the counts of (neighbour, rare word) pairs by (neighbour, class of the word): (keys, table).");
    m.def(
        "context_weights",
        [](const LabelCountArrays& table, const In<int32_t>& centre, const LabelScoreArrays& rows, double k, double weight) {
            const LabelCounts counts = checked(table, std::numeric_limits<int32_t>::max());
            const LabelScores scores = view(rows);
            check_rows(scores);
            if (centre.shape(0) != counts.n_contexts()) throw nb::value_error("contexts and their rows disagree in number");
            return to_tuple(unlocked([&] { return context_weights(counts, view(centre), scores, k, weight); }));
        },
        "table"_a, "centre"_a, "rows"_a, "k"_a, "weight"_a,
        "weight * log(1 + n(c, y) / (k p(y))), where p is the row of the context's centre: a context's evidence as label "
        "weights. "
        "The term common to all labels is omitted.");
}

void bind_backoff(nb::module_& m) {
    nb::class_<Backoff>(m, "Backoff", "P(y | word) by back-off from counts. The counts must not change.")
        .def(
            "__init__",
            [](Backoff* self, const In<int64_t>& offsets, const In<int32_t>& labels, const In<int64_t>& counts,
               const In2<int32_t>& level_ids,
               size_t n_labels) { new (self) Backoff({view(offsets), view(labels), view(counts)}, view(level_ids), n_labels); },
            "offsets"_a, "labels"_a, "counts"_a, "level_ids"_a, "n_labels"_a)
        .def("derive", &Backoff::derive, "rung_k"_a, "rare"_a, "word_k"_a, "prior_k"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Derive rarity, types and prior.")
        .def(
            "distribution",
            [](const Backoff& backoff, size_t word, int32_t left_out) {
                backoff.require_derived();
                if (word >= backoff.n_words()) throw nb::index_error("word id out of range");
                std::vector<double> p;
                backoff.distribution(word, left_out, p);
                return to_numpy(std::move(p));
            },
            "word"_a, "left_out"_a = kNoToken, "P(y | word), leaving out one token with the label `left_out`.")
        .def(
            "word_rows",
            [](const Backoff& backoff, double threshold, size_t cap) {
                backoff.require_derived();
                return to_tuple(unlocked([&] { return backoff.word_rows(threshold, cap); }));
            },
            "threshold"_a, "cap"_a, "log P(y | word) of each word's candidate labels, as CSR rows.")
        .def(
            "level_shares",
            [](const Backoff& backoff, size_t level) {
                backoff.require_derived();
                if (level > backoff.n_levels()) throw nb::index_error("level number out of range");
                return to_tuple(unlocked([&] { return backoff.level_shares(level); }));
            },
            "level"_a, "The label shares of each context of a level, as CSR rows. The level after the last is the prior.")
        .def("lattice", &lattice, "words"_a, "ids"_a, "left"_a, "right"_a, "class_left"_a, "class_right"_a, "class_of"_a,
             "classes"_a, "pair_k"_a, "class_k"_a, "rare"_a, "threshold"_a, "cap"_a, "left_out"_a.none(),
             "Candidate labels of each token and the terms of their scores: (offsets, labels, log P(y | word), left, right, "
             "class, known). `ids` holds the four contexts of each token. `left_out` holds each token's own label, to leave it "
             "out.");
}

void bind_pooling(nb::module_& m) {
    m.def(
        "expert_evidence",
        [](const LabelCountArrays& table, const CsrArrays& features, const In<int32_t>& expert_of, size_t n_experts,
           const CsrArrays& candidates, const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out) {
            const PooledTokens tokens = tokens_of(table, features, candidates, prior, k, left_out);
            if (expert_of.shape(0) != tokens.table.n_contexts()) throw nb::value_error("experts and features disagree in number");
            return to_numpy(unlocked([&] { return expert_evidence(tokens, view(expert_of), n_experts); }),
                            tokens.candidates.ids.size(), n_experts);
        },
        "table"_a, "features"_a, "expert_of"_a, "n_experts"_a, "candidates"_a, "prior"_a, "k"_a, "left_out"_a.none(),
        "Evidence of each expert for each candidate label: (candidates, experts).");
    m.def(
        "pooled_scores",
        [](const LabelCountArrays& table, const CsrArrays& features, const In<float>& feature_weight, const CsrArrays& candidates,
           const In<double>& prior, double k, const std::optional<In<int32_t>>& left_out, size_t threads) {
            const PooledTokens tokens = tokens_of(table, features, candidates, prior, k, left_out);
            if (feature_weight.shape(0) != tokens.table.n_contexts())
                throw nb::value_error("weights and features disagree in number");
            return to_numpy(unlocked([&] { return pooled_scores(tokens, view(feature_weight), threads); }));
        },
        "table"_a, "features"_a, "feature_weight"_a, "candidates"_a, "prior"_a, "k"_a, "left_out"_a.none(), "threads"_a = 1,
        "Weighted evidence for each candidate label of each token.");
    m.def("conditional_logit", &bound_conditional_logit, "x"_a, "candidates"_a, "gold"_a, "theta"_a, "n_labels"_a,
          "-sum log softmax(x w + b)(gold) over candidates, its gradient and its Hessian in (w, b). Tokens with gold -1 are "
          "skipped.");
    m.def("pair_expectations", &bound_pair_expectations, "sentences"_a, "candidates"_a, "posteriors"_a, "scores"_a,
          "Expected label pairs if P(y, y') is proportional to P(y) P(y') exp(score): (K + 1, K + 1).");
}

}  // namespace

void bind_counting(nb::module_& m) {
    bind_counts(m);
    bind_contexts(m);
    bind_backoff(m);
    bind_pooling(m);
}
