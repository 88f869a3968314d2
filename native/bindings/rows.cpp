// Binds core/sparse_rows.h.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/sparse_rows.h"

void bind_rows(nb::module_& m) {
    m.def(
        "add_sparse_rows",
        [](const LabelScoreArrays& first, const LabelScoreArrays& second) {
            const LabelScores a = view(first), b = view(second);
            check_rows(a);
            check_rows(b);
            if (a.offsets.size() != b.offsets.size()) throw nb::value_error("as many rows are needed of both");
            SparseRows sum = unlocked([&] { return add_rows(a, b); });
            return to_tuple(std::move(sum.offsets), std::move(sum.labels), std::move(sum.scores));
        },
        nb::arg("a"), nb::arg("b"), "The sum of two sets of as many rows; labels of only one keep their scores.");
    m.def(
        "find_in_rows",
        [](const In<int64_t>& offsets, const In<int32_t>& labels, const In<int32_t>& wanted) {
            const Csr rows{view(offsets), view(labels)};
            check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
            if (rows.rows() != wanted.shape(0)) throw nb::value_error("one label a row is looked for");
            return to_numpy(unlocked([&] { return find_in_rows(rows, view(wanted)); }));
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("wanted"),
        "Where each row has the label wanted of it, -1 where it has not.");
}
