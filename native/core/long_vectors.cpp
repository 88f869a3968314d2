// See long_vectors.h.
#include "core/long_vectors.h"

#include <algorithm>

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

std::vector<double> inner_products(const Matrix<double>& rows, const double* v, const std::vector<size_t>& own) {
    const size_t n_rows = rows.rows(), n = rows.columns();
    std::vector<const double*> vectors{v};
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
    return out;
}

void combination(const Matrix<double>& rows, const double* shares, const double* v, double own, double* out) {
    const size_t n = rows.columns();
    for (size_t start = 0; start < n; start += kPiece) {
        const size_t end = std::min(n, start + kPiece);
        for (size_t i = start; i < end; ++i) out[i] = own * v[i];
        for (size_t r = 0; r < rows.rows(); ++r) add_share(out + start, shares[r], rows.row(r) + start, end - start);
    }
}
