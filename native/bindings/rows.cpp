// Binds core/sparse_rows.h and core/label_parts.h.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/label_parts.h"
#include "core/sparse_rows.h"

void bind_rows(nb::module_& m) {
    m.def(
        "add_sparse_rows",
        [](const LabelScoreArrays& first, const LabelScoreArrays& second) {
            const LabelScores a = view(first), b = view(second);
            check_rows(a);
            check_rows(b);
            if (a.offsets.size() != b.offsets.size()) throw nb::value_error("the two sets of rows disagree in number");
            SparseRows sum = unlocked([&] { return add_rows(a, b); });
            return to_tuple(std::move(sum.offsets), std::move(sum.labels), std::move(sum.scores));
        },
        nb::arg("a"), nb::arg("b"), "The row-wise sum of two sets of rows. A label in only one of them keeps its score.");
    m.def(
        "find_in_rows",
        [](const In<int64_t>& offsets, const In<int32_t>& labels, const In<int32_t>& wanted) {
            const Csr rows{view(offsets), view(labels)};
            check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
            if (rows.rows() != wanted.shape(0)) throw nb::value_error("wanted labels and rows disagree in number");
            return to_numpy(unlocked([&] { return find_in_rows(rows, view(wanted)); }));
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("wanted"),
        "The position of the wanted label of each row, -1 if the row does not contain it.");
    m.def(
        "seen_labels",
        [](const CsrArrays& slot_arrays, const CsrArrays& feature_arrays, size_t n_labels) {
            const Csr slots = view(slot_arrays), features = view(feature_arrays);
            check_offsets(slots.offsets, slots.ids.size(), "slot offsets and labels disagree");
            check_offsets(features.offsets, features.ids.size(), "feature offsets and ids disagree");
            check_labels(slots.ids, n_labels);
            auto found = unlocked([&] { return seen_labels(slots, features, n_labels); });
            return to_tuple(std::move(found.first), std::move(found.second));
        },
        nb::arg("slots"), nb::arg("features"), nb::arg("n_labels"),
        "The labels that some feature of each token was seen with, in ascending order; all labels for a token without such "
        "features. Features without a row of slots are left out.");
    m.def(
        "with_part_columns",
        [](const CsrArrays& arrays, const PartArrays& given) {
            const Csr rows = view(arrays);
            const LabelParts parts = parts_of(given);
            check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
            check_labels(rows.ids, parts.n_labels());
            auto found = unlocked([&] { return parts.with_columns(rows); });
            return to_tuple(std::move(found.first), std::move(found.second));
        },
        nb::arg("rows"), nb::arg("parts"), "Rows of labels, with a column K + p for each part p that a label of the row has.");
}
