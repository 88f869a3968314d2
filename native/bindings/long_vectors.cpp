// Binds core/long_vectors.h, core/cholesky.h and core/logarithms.h.
#include "core/long_vectors.h"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/cholesky.h"
#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// A function of each number of a vector.
template <typename Function>
Out<double> each(const In<double>& x, Function function) {
    const size_t n = x.shape(0);
    std::unique_ptr<double[]> out(new double[n]);
    unlocked([&] { function(x.data(), out.get(), n); });
    return to_numpy(std::move(out), n);
}

}  // namespace

void bind_long_vectors(nb::module_& m) {
    m.def(
        "dot",
        [](const In<double>& a, const In<double>& b) {
            if (a.shape(0) != b.shape(0)) throw nb::value_error("vectors differ in length");
            return unlocked([&] { return dot(a.data(), b.data(), a.shape(0)); });
        },
        nb::arg("a"), nb::arg("b"), "The inner product of two vectors.");
    m.def(
        "inner_products",
        [](const In2<double>& rows, const In<double>& v, const std::vector<size_t>& own) {
            if (rows.shape(1) != v.shape(0)) throw nb::value_error("vectors differ in length");
            const Matrix<double> matrix = view(rows);
            std::vector<const double*> vectors{v.data()};
            for (const size_t r : own) {
                if (r >= matrix.rows()) throw nb::value_error("no such row");
                vectors.push_back(matrix.row(r));
            }
            std::vector<double> out(vectors.size() * matrix.rows());
            unlocked([&] { inner_products(matrix, vectors, out.data()); });
            return to_numpy(std::move(out), vectors.size(), matrix.rows());
        },
        nb::arg("rows"), nb::arg("v"), nb::arg("own") = std::vector<size_t>(),
        "Inner products of each row with `v`, then with each row whose index is in `own`.");
    m.def(
        "combination",
        [](const In2<double>& rows, const In<double>& shares, const In<double>& v, double own) {
            const size_t n = v.shape(0);
            if (rows.shape(1) != n || shares.shape(0) != rows.shape(0)) throw nb::value_error("vectors differ in length");
            std::unique_ptr<double[]> out(new double[n]);
            unlocked([&] { combination(view(rows), shares.data(), v.data(), own, out.get()); });
            return to_numpy(std::move(out), n);
        },
        nb::arg("rows"), nb::arg("shares"), nb::arg("v"), nb::arg("own"), "own * v plus the sum of shares[r] * rows[r].");
    m.def(
        "solve_positive_definite",
        [](const In2<double>& a, const In<double>& b) -> std::optional<Out<double>> {
            if (a.shape(0) != a.shape(1) || a.shape(0) != b.shape(0)) throw nb::value_error("matrix and vector differ in size");
            std::vector<double> x = unlocked([&] { return solve_positive_definite(view(a), view(b)); });
            if (x.size() != b.shape(0)) return std::nullopt;
            return to_numpy(std::move(x));
        },
        nb::arg("a"), nb::arg("b"), "The solution of a x = b; None if the upper triangle of a is not positive definite.");
    m.def(
        "exp",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) {
                std::copy_n(from, n, to);
                exponentiate(to, n);
            });
        },
        nb::arg("x"), "e to the power of each number, at most 709; 0 below -708.");
    m.def(
        "log",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) { std::transform(from, from + n, to, portable_log); });
        },
        nb::arg("x"), "The logarithm of each number.");
    m.def(
        "log1p",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) { std::transform(from, from + n, to, portable_log1p); });
        },
        nb::arg("x"), "The logarithm of 1 plus each number.");
}
