// Binds counting/backoff.h, counting/token_scores.h and counting/contexts.h.
#include "counting/backoff.h"

#include <nanobind/stl/vector.h>

#include <limits>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/label_counts.h"
#include "counting/contexts.h"
#include "counting/token_scores.h"

namespace {

nb::tuple to_python(SparseRows&& rows) {
    return to_tuple(std::move(rows.offsets), std::move(rows.labels), std::move(rows.scores));
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
        nb::arg("keys"), nb::arg("pairs"), nb::arg("word_is_first"), nb::arg("class_of"), nb::arg("totals"), nb::arg("rare"),
        nb::arg("n_labels"), "Sum the counts of (neighbour, rare word) pairs by (neighbour, class of the word): (keys, table).");
    m.def(
        "context_weights",
        [](const LabelCountArrays& table, const In<int32_t>& centre, const LabelScoreArrays& rows, double k, double weight) {
            const LabelCounts counts = checked(table, std::numeric_limits<int32_t>::max());
            const LabelScores scores = view(rows);
            check_rows(scores);
            if (centre.shape(0) != counts.n_contexts()) throw nb::value_error("contexts and their rows disagree in number");
            return to_python(unlocked([&] { return context_weights(counts, view(centre), scores, k, weight); }));
        },
        nb::arg("table"), nb::arg("centre"), nb::arg("rows"), nb::arg("k"), nb::arg("weight"),
        "weight * log(1 + n(c, y) / (k p(y))), where p is the row of the context's centre: a context's evidence as label "
        "weights. "
        "The term common to all labels is omitted.");
}

}  // namespace

void bind_backoff(nb::module_& m) {
    nb::class_<Backoff>(m, "Backoff", "P(y | word) by back-off from counts. The counts must not change.")
        .def(
            "__init__",
            [](Backoff* self, const In<int64_t>& offsets, const In<int32_t>& labels, const In<int64_t>& counts,
               const In2<int32_t>& level_ids,
               size_t n_labels) { new (self) Backoff({view(offsets), view(labels), view(counts)}, view(level_ids), n_labels); },
            nb::arg("offsets"), nb::arg("labels"), nb::arg("counts"), nb::arg("level_ids"), nb::arg("n_labels"))
        .def("derive", &Backoff::derive, nb::arg("rung_k"), nb::arg("rare"), nb::arg("word_k"), nb::arg("prior_k"),
             nb::call_guard<nb::gil_scoped_release>(), "Derive rarity, types and prior.")
        .def(
            "distribution",
            [](const Backoff& backoff, size_t word, int32_t left_out) {
                backoff.require_derived();
                if (word >= backoff.n_words()) throw nb::index_error("word id out of range");
                std::vector<double> p;
                backoff.distribution(word, left_out, p);
                return to_numpy(std::move(p));
            },
            nb::arg("word"), nb::arg("left_out") = kNoToken, "P(y | word), leaving out one token with the label `left_out`.")
        .def(
            "word_rows",
            [](const Backoff& backoff, double threshold, size_t cap) {
                backoff.require_derived();
                return to_python(unlocked([&] { return backoff.word_rows(threshold, cap); }));
            },
            nb::arg("threshold"), nb::arg("cap"), "log P(y | word) of each word's candidate labels, as CSR rows.")
        .def(
            "level_shares",
            [](const Backoff& backoff, size_t level) {
                backoff.require_derived();
                if (level > backoff.n_levels()) throw nb::index_error("level number out of range");
                return to_python(unlocked([&] { return backoff.level_shares(level); }));
            },
            nb::arg("level"), "The label shares of each context of a level, as CSR rows. The level after the last is the prior.")
        .def("lattice", &lattice, nb::arg("words"), nb::arg("ids"), nb::arg("left"), nb::arg("right"), nb::arg("class_left"),
             nb::arg("class_right"), nb::arg("class_of"), nb::arg("classes"), nb::arg("pair_k"), nb::arg("class_k"),
             nb::arg("rare"), nb::arg("threshold"), nb::arg("cap"), nb::arg("left_out").none(),
             "Candidate labels of each token and the terms of their scores: (offsets, labels, log P(y | word), left, right, "
             "class, known). `ids` holds the four contexts of each token. `left_out` holds each token's own label, to leave it "
             "out.");
    bind_contexts(m);
}
