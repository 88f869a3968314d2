// Sums over long float64 vectors, in an order that does not depend on the machine's number of processors.
#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "vectors.h"

namespace {

// Sums side by side, so that the additions need not wait for each other.
CORATE_FOR_EACH_PROCESSOR
double dot(const double* a, const double* b, size_t n) {
    double sums[32] = {};
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        for (size_t k = 0; k < 32; ++k) sums[k] += a[i + k] * b[i + k];
    double total = 0.0;
    for (; i < n; ++i) total += a[i] * b[i];
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace

void bind_long_vectors(nb::module_& m) {
    m.def(
        "dot",
        [](In<double> a, In<double> b) {
            if (a.shape(0) != b.shape(0)) throw nb::value_error("vectors of different lengths");
            nb::gil_scoped_release release;
            return dot(a.data(), b.data(), a.shape(0));
        },
        nb::arg("a"), nb::arg("b"), "The inner product of two vectors.");
    m.def(
        "inner_products",
        [](In2<double> rows, In<double> v) {
            if (rows.shape(1) != v.shape(0)) throw nb::value_error("vectors of different lengths");
            std::vector<double> out(rows.shape(0));
            {
                nb::gil_scoped_release release;
                for (size_t r = 0; r < out.size(); ++r) out[r] = dot(rows.data() + r * v.shape(0), v.data(), v.shape(0));
            }
            return to_numpy(std::move(out));
        },
        nb::arg("rows"), nb::arg("v"), "The inner product of each row with a vector.");
    m.def(
        "combination",
        [](In2<double> rows, In<double> shares, In<double> v, double own) {
            const size_t n = v.shape(0);
            if (rows.shape(1) != n || shares.shape(0) != rows.shape(0)) throw nb::value_error("vectors of different lengths");
            std::vector<double> out(n);
            {
                nb::gil_scoped_release release;
                constexpr size_t kPiece = 1024;  // stays in the nearest cache while the rows are added
                for (size_t start = 0; start < n; start += kPiece) {
                    const size_t end = std::min(n, start + kPiece);
                    for (size_t i = start; i < end; ++i) out[i] = own * v.data()[i];
                    for (size_t r = 0; r < shares.shape(0); ++r) {
                        const double share = shares.data()[r];
                        const double* row = rows.data() + r * n;
                        for (size_t i = start; i < end; ++i) out[i] += share * row[i];
                    }
                }
            }
            return to_numpy(std::move(out));
        },
        nb::arg("rows"), nb::arg("shares"), nb::arg("v"), nb::arg("own"), "own v plus the sum of the rows times their shares.");
}
