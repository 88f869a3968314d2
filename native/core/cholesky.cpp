// See cholesky.h.
#include "core/cholesky.h"

#include <algorithm>
#include <cmath>

#include "core/tiles.h"
#include "core/vectors.h"

namespace {

constexpr size_t kPanel = 128;  // rows of a panel: two tiles of it, of 8 columns each, stay in a near cache
constexpr size_t kLane = 8;     // columns of a tile

using Doubles = std::vector<double, CacheLines<double>>;

// a -= factor b, for n numbers, a multiple of 8.
CORATE_FOR_EACH_PROCESSOR
void subtract_scaled(double* a, double factor, const double* b, size_t n) {
    for (size_t i = 0; i < n; ++i) a[i] -= factor * b[i];
}

CORATE_FOR_EACH_PROCESSOR
void scale(double* a, double factor, size_t n) {
    for (size_t i = 0; i < n; ++i) a[i] *= factor;
}

// The eight columns of a block -= left' right. Both tiles have `rows` rows of eight numbers.
template <size_t Bytes>
CORATE_INLINE void subtract_product_by(double* block, size_t stride, const double* left, const double* right, size_t rows) {
    constexpr size_t high = Bytes == 64 ? 8 : (Bytes == 32 ? 4 : 2);  // so many rows of the block stay in registers
    for (size_t i = 0; i < kLane; i += high) {
        Eight<Bytes> sums[high] = {};
        for (size_t r = 0; r < rows; ++r) {
            const auto across = Eight<Bytes>::load(right + r * kLane);
            for (size_t k = 0; k < high; ++k) sums[k] += left[r * kLane + i + k] * across;
        }
        for (size_t k = 0; k < high; ++k) {
            double* at = block + (i + k) * stride;
            (Eight<Bytes>::load(at) - sums[k]).store(at);
        }
    }
}

CORATE_BY_WIDTH(subtract_product, (double* block, size_t stride, const double* left, const double* right, size_t rows),
                (block, stride, left, right, rows))

class Factor {
   public:
    // Rows are padded to a multiple of 8 columns; the padding is that of an identity matrix.
    explicit Factor(const Matrix<double>& a)
        : n_(a.rows()), stride_((n_ + kLane - 1) / kLane * kLane), u_(stride_ * stride_), tiles_(kPanel * stride_) {
        for (size_t i = 0; i < n_; ++i) std::copy(a.row(i) + i, a.row(i) + n_, row(i) + i);
        for (size_t i = n_; i < stride_; ++i) row(i)[i] = 1.0;
    }

    // False if the matrix is not positive definite.
    bool find() {
        for (size_t begin = 0; begin < stride_; begin += kPanel) {
            const size_t end = std::min(begin + kPanel, stride_);
            if (!find_panel(begin, end)) return false;
            update(begin, end);
        }
        return true;
    }

    std::vector<double> solve(const Array<double>& b) {
        std::vector<double> x(b.begin(), b.end());
        x.resize(stride_);
        for (size_t i = 0; i < stride_; ++i) {
            x[i] /= row(i)[i];
            const size_t next = i + 1;
            for (size_t j = next; j < stride_; ++j) x[j] -= x[i] * row(i)[j];
        }
        for (size_t i = stride_; i-- > 0;) {
            const size_t next = i + 1;
            x[i] = (x[i] - dot(row(i) + next, x.data() + next, stride_ - next)) / row(i)[i];
        }
        x.resize(n_);
        return x;
    }

   private:
    double* row(size_t i) { return u_.data() + i * stride_; }

    // Rows of U from begin to end, from those of A that no longer depend on the rows before.
    bool find_panel(size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const double pivot = row(i)[i];
            if (!(pivot > 0.0) || pivot == INFINITY) return false;
            const double root = std::sqrt(pivot);
            scale(row(i) + i, 1.0 / root, stride_ - i);
            row(i)[i] = root;
            for (size_t k = i + 1; k < end; ++k) subtract_scaled(row(k) + k, row(i)[k], row(i) + k, stride_ - k);
        }
        return true;
    }

    // Takes the rows from begin to end out of the rest of A.
    void update(size_t begin, size_t end) {
        const size_t rows = end - begin;
        const auto tile = [&](size_t column) { return tiles_.data() + column / kLane * kLane * kPanel; };
        for (size_t j = end; j < stride_; j += kLane)
            for (size_t r = 0; r < rows; ++r) std::copy_n(row(begin + r) + j, kLane, tile(j) + r * kLane);
        for (size_t i = end; i < stride_; i += 2 * kLane)
            for (size_t j = i; j < stride_; j += kLane)
                for (size_t k = i; k < std::min(i + 2 * kLane, j + kLane); k += kLane)
                    subtract_product(row(k) + j, stride_, tile(k), tile(j), rows);
    }

    size_t n_, stride_;
    Doubles u_, tiles_;
};

}  // namespace

std::optional<std::vector<double>> solve_positive_definite(const Matrix<double>& a, const Array<double>& b) {
    require(a.rows() == a.columns() && a.rows() == b.size(), "matrix and vector differ in size");
    Factor factor(a);
    return factor.find() ? std::optional(factor.solve(b)) : std::nullopt;
}
