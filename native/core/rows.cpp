// Sparse rows of (label, score), labels rising: where labels stand in them, and the sum of two sets of rows.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace {

using Rows = std::tuple<In<int64_t>, In<int32_t>, In<float>>;  // offsets, labels, scores

void check(const Rows& rows) {
    const auto& [offsets, labels, scores] = rows;
    check_offsets(offsets, labels.shape(0), "row offsets and labels disagree");
    if (scores.shape(0) != labels.shape(0)) throw nb::value_error("row labels and scores disagree");
}

class Sum {
   public:
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> scores;

    Sum(const Rows& a, const Rows& b) {
        const size_t rows = std::get<0>(a).shape(0) - 1, most = std::get<1>(a).shape(0) + std::get<1>(b).shape(0);
        offsets.reserve(rows + 1);
        labels.reserve(most);
        scores.reserve(most);
        for (size_t r = 0; r < rows; ++r) merge(a, b, r);
    }

   private:
    void merge(const Rows& a, const Rows& b, size_t r) {
        const int32_t *x = std::get<1>(a).data(), *y = std::get<1>(b).data();
        const float *of_x = std::get<2>(a).data(), *of_y = std::get<2>(b).data();
        int64_t i = std::get<0>(a).data()[r], j = std::get<0>(b).data()[r];
        const int64_t end_i = std::get<0>(a).data()[r + 1], end_j = std::get<0>(b).data()[r + 1];
        while (i < end_i && j < end_j) {
            if (x[i] == y[j]) {
                add(x[i], of_x[i] + of_y[j]);
                ++i, ++j;
            } else if (x[i] < y[j]) {
                add(x[i], of_x[i]);
                ++i;
            } else {
                add(y[j], of_y[j]);
                ++j;
            }
        }
        for (; i < end_i; ++i) add(x[i], of_x[i]);
        for (; j < end_j; ++j) add(y[j], of_y[j]);
        offsets.push_back(static_cast<int64_t>(labels.size()));
    }

    void add(int32_t label, float score) {
        labels.push_back(label);
        scores.push_back(score);
    }
};

}  // namespace

void bind_rows(nb::module_& m) {
    m.def(
        "add_sparse_rows",
        [](Rows a, Rows b) {
            check(a);
            check(b);
            if (std::get<0>(a).shape(0) != std::get<0>(b).shape(0)) throw nb::value_error("as many rows are needed of both");
            nb::gil_scoped_release release;
            Sum sum(a, b);
            nb::gil_scoped_acquire acquire;
            return nb::make_tuple(to_numpy(std::move(sum.offsets)), to_numpy(std::move(sum.labels)), to_numpy(std::move(sum.scores)));
        },
        nb::arg("a"), nb::arg("b"), "The sum of two sets of as many rows; labels of only one keep their scores.");
    m.def(
        "find_in_rows",
        [](In<int64_t> offsets, In<int32_t> labels, In<int32_t> wanted) {
            check_offsets(offsets, labels.shape(0), "row offsets and labels disagree");
            if (offsets.shape(0) != wanted.shape(0) + 1) throw nb::value_error("one label a row is looked for");
            std::vector<int64_t> found(wanted.shape(0));
            {
                nb::gil_scoped_release release;
                for (size_t r = 0; r < found.size(); ++r) {
                    const int32_t *first = labels.data() + offsets(r), *last = labels.data() + offsets(r + 1);
                    const int32_t* place = std::lower_bound(first, last, wanted(r));
                    found[r] = place != last && *place == wanted(r) ? place - labels.data() : -1;
                }
            }
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("wanted"), "Where each row has the label wanted of it, -1 where it has not.");
}
