// Sums over long float64 vectors, in an order that does not depend on the machine's number of processors.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/vectors.h"

namespace {

// A piece of a vector that stays in a near cache while rows are multiplied with it, or added to it; of shorter ones rows come
// too slowly.
constexpr size_t kPiece = 4096;

// out(k, r) = the inner product of vector k with row r. Rows are long, and are read once for all vectors.
void inner_products(const double* rows, size_t n_rows, const std::vector<const double*>& vectors, size_t n, double* out) {
    std::fill(out, out + vectors.size() * n_rows, 0.0);
    for (size_t start = 0; start < n; start += kPiece) {
        const size_t count = std::min(kPiece, n - start);
        for (size_t r = 0; r < n_rows; ++r)
            for (size_t k = 0; k < vectors.size(); ++k) out[k * n_rows + r] += dot(rows + r * n + start, vectors[k] + start, count);
    }
}

// out += share row
CORATE_FOR_EACH_PROCESSOR
void add_share(double* out, double share, const double* row, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] += share * row[i];
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
        [](In2<double> rows, In<double> v, const std::vector<size_t>& own) {
            const size_t n_rows = rows.shape(0), n = rows.shape(1);
            if (n != v.shape(0)) throw nb::value_error("vectors of different lengths");
            std::vector<const double*> vectors{v.data()};
            for (const size_t r : own) {
                if (r >= n_rows) throw nb::value_error("no such row");
                vectors.push_back(rows.data() + r * n);
            }
            std::vector<double> out(vectors.size() * n_rows);
            {
                nb::gil_scoped_release release;
                inner_products(rows.data(), n_rows, vectors, n, out.data());
            }
            return to_numpy(std::move(out), vectors.size(), n_rows);
        },
        nb::arg("rows"), nb::arg("v"), nb::arg("own") = std::vector<size_t>(),
        "Inner products with each row: of a vector, then of those rows whose places are given.");
    m.def(
        "combination",
        [](In2<double> rows, In<double> shares, In<double> v, double own) {
            const size_t n = v.shape(0);
            if (rows.shape(1) != n || shares.shape(0) != rows.shape(0)) throw nb::value_error("vectors of different lengths");
            std::unique_ptr<double[]> out(new double[n]);
            {
                nb::gil_scoped_release release;
                for (size_t start = 0; start < n; start += kPiece) {
                    const size_t end = std::min(n, start + kPiece);
                    for (size_t i = start; i < end; ++i) out[i] = own * v.data()[i];
                    for (size_t r = 0; r < shares.shape(0); ++r)
                        add_share(out.get() + start, shares.data()[r], rows.data() + r * n + start, end - start);
                }
            }
            return to_numpy(std::move(out), n);
        },
        nb::arg("rows"), nb::arg("shares"), nb::arg("v"), nb::arg("own"), "own v plus the sum of the rows times their shares.");
}
