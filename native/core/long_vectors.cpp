// See long_vectors.h.
#include "core/long_vectors.h"

#include <algorithm>

#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

// A piece of a vector that stays in a near cache while rows are multiplied by it or added to it. Shorter pieces read rows too
// slowly.
constexpr size_t kPiece = 4096;

// out += share * row
CORATE_FOR_EACH_PROCESSOR
void add_share(double* out, double share, const double* row, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] += share * row[i];
}

}  // namespace

NewMatrix<double> inner_products(const Matrix<double>& rows, std::span<const double> v, const std::vector<size_t>& own) {
    const size_t n_rows = rows.rows(), n = rows.columns();
    require(v.size() == n, "vectors differ in length");
    std::vector<const double*> vectors{v.data()};
    for (const size_t r : own) {
        if (r >= n_rows) throw std::invalid_argument("no such row");
        vectors.push_back(rows.row(r));
    }
    std::vector<double> out(vectors.size() * n_rows);
    for (size_t start = 0; start < n; start += kPiece) {
        const size_t count = std::min(kPiece, n - start);
        for (size_t r = 0; r < n_rows; ++r)
            for (size_t k = 0; k < vectors.size(); ++k)
                out[k * n_rows + r] += dot(rows.row(r) + start, vectors[k] + start, count);
    }
    return {std::move(out), vectors.size(), n_rows};
}

double inner_product(std::span<const double> a, std::span<const double> b) {
    require(a.size() == b.size(), "vectors differ in length");
    return dot(a.data(), b.data(), a.size());
}

NewArray<double> combination(const Matrix<double>& rows, std::span<const double> shares, std::span<const double> v, double own) {
    const size_t n = rows.columns();
    require(v.size() == n && shares.size() == rows.rows(), "vectors differ in length");
    NewArray<double> sum(n);
    double* out = sum.values.get();
    for (size_t start = 0; start < n; start += kPiece) {
        const size_t end = std::min(n, start + kPiece);
        for (size_t i = start; i < end; ++i) out[i] = own * v[i];
        for (size_t r = 0; r < rows.rows(); ++r) add_share(out + start, shares[r], rows.row(r) + start, end - start);
    }
    return sum;
}

std::vector<double> each_exp(std::span<const double> x) {
    std::vector<double> out(x.begin(), x.end());
    exponentiate(out.data(), out.size());
    return out;
}

std::vector<double> each_log(std::span<const double> x) {
    std::vector<double> out(x.begin(), x.end());
    for (double& value : out) value = portable_log(value);
    return out;
}

std::vector<double> each_log1p(std::span<const double> x) {
    std::vector<double> out(x.begin(), x.end());
    for (double& value : out) value = portable_log1p(value);
    return out;
}
