// Dense kernels over rows of floats. See vectors.h.
#include "core/vectors.h"

#include <algorithm>
#include <cmath>

#include "core/tiles.h"

namespace {

// How many tiles of a row are summed at once: as many as the registers hold for four rows.
template <size_t Bytes>
constexpr size_t kAcross = Bytes == 64 ? 2 : 1;
// Numbers in 64 bytes.
template <typename Real>
constexpr size_t kLanes = 64 / sizeof(Real);

// out(r, l ..) = sum_k in(r, k) matrix(k, l ..) for R rows.
template <size_t Bytes, size_t R, size_t Across, typename Real>
CORATE_INLINE void block_product(const Real* const* in, Real* const* out, size_t k_count, const Real* matrix, size_t stride,
                                 size_t l) {
    TileOf<Real, Bytes> sums[R][Across] = {};
    for (size_t k = 0; k < k_count; ++k)
        for (size_t t = 0; t < Across; ++t) {
            const auto a = TileOf<Real, Bytes>::load(matrix + k * stride + l + t * kLanes<Real>);
            for (size_t r = 0; r < R; ++r) sums[r][t] += in[r][k] * a;
        }
    for (size_t r = 0; r < R; ++r)
        for (size_t t = 0; t < Across; ++t) sums[r][t].store(out[r] + l + t * kLanes<Real>);
}

// The same for all rows.
template <size_t Bytes, size_t Across, typename Real>
CORATE_INLINE void columns_product(const Real* const* in, Real* const* out, size_t rows, size_t k_count, const Real* matrix,
                                   size_t stride, size_t l) {
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) block_product<Bytes, 4, Across>(in + r, out + r, k_count, matrix, stride, l);
    for (; r < rows; ++r) block_product<Bytes, 1, Across>(in + r, out + r, k_count, matrix, stride, l);
}

template <size_t Bytes, typename Real>
CORATE_INLINE void rows_times_matrix_by(const Real* const* in, Real* const* out, size_t rows, size_t k_count, const Real* matrix,
                                        size_t stride) {
    constexpr size_t across = kAcross<Bytes>, step = across * kLanes<Real>;
    size_t l = 0;
    for (; l + step <= stride; l += step) columns_product<Bytes, across>(in, out, rows, k_count, matrix, stride, l);
    // A row of doubles may have one more tile.
    if (l < stride) columns_product<Bytes, 1>(in, out, rows, k_count, matrix, stride, l);
}

template <size_t Bytes, typename Real>
CORATE_INLINE void add_products_by(const Real* x, const Real* y, size_t rows, size_t k_count, size_t stride, Real* sums) {
    constexpr size_t across = sizeof(Real) == 4 ? kAcross<Bytes> : 1, lanes = kLanes<Real>;
    for (size_t k = 0; k < k_count; k += 4)
        for (size_t l = 0; l < stride; l += across * lanes) {
            TileOf<Real, Bytes> block[4][across] = {};
            for (size_t i = 0; i < rows; ++i)
                for (size_t t = 0; t < across; ++t) {
                    const auto a = TileOf<Real, Bytes>::load(y + i * stride + l + t * lanes);
                    for (size_t r = 0; r < 4; ++r) block[r][t] += x[i * stride + k + r] * a;
                }
            for (size_t r = 0; r < 4; ++r)
                for (size_t t = 0; t < across; ++t) {
                    Real* at = sums + (k + r) * stride + l + t * lanes;
                    auto sum = TileOf<Real, Bytes>::load(at);
                    sum += block[r][t];
                    sum.store(at);
                }
        }
}

template <size_t Bytes>
CORATE_INLINE void add_rows_by(float* out, const float* table, const int32_t* ids, const float* values, size_t count,
                               size_t stride) {
    for (size_t l = 0; l < stride; l += 2 * kTile) {
        auto low = Tile<Bytes>::load(out + l), high = Tile<Bytes>::load(out + l + kTile);
        for (size_t i = 0; i < count; ++i) {
            const float* row = table + static_cast<size_t>(ids[i]) * stride + l;
            low += values[i] * Tile<Bytes>::load(row);
            high += values[i] * Tile<Bytes>::load(row + kTile);
        }
        low.store(out + l);
        high.store(out + l + kTile);
    }
}

template <size_t Bytes>
CORATE_INLINE void sum_rows_by(float* out, const float* const* rows, const int32_t* ids, const float* values, size_t count,
                               size_t stride) {
    for (size_t l = 0; l < stride; l += 2 * kTile) {
        Tile<Bytes> low = {}, high = {};
        if (values == nullptr)
            for (size_t i = 0; i < count; ++i) {
                low += Tile<Bytes>::load(rows[ids[i]] + l);
                high += Tile<Bytes>::load(rows[ids[i]] + l + kTile);
            }
        else
            for (size_t i = 0; i < count; ++i) {
                low += values[i] * Tile<Bytes>::load(rows[ids[i]] + l);
                high += values[i] * Tile<Bytes>::load(rows[ids[i]] + l + kTile);
            }
        low.store(out + l);
        high.store(out + l + kTile);
    }
}

template <size_t Bytes>
CORATE_INLINE void add_outer_products_by(double* sums, const double* rows, size_t count, size_t n) {
    constexpr size_t high = Bytes == 64 ? 8 : 4;  // a block of this many rows and eight columns stays in registers
    for (size_t i = 0; i < n; i += high)
        for (size_t j = i / 8 * 8; j < n; j += 8) {
            Eight<Bytes> block[high] = {};
            for (size_t r = 0; r < count; ++r) {
                const double* left = rows + r * n + i;
                const auto right = Eight<Bytes>::load(rows + r * n + j);
                for (size_t k = 0; k < high; ++k) block[k] += left[k] * right;
            }
            for (size_t k = 0; k < high; ++k) {
                double* at = sums + (i + k) * n + j;
                auto sum = Eight<Bytes>::load(at);
                sum += block[k];
                sum.store(at);
            }
        }
}

template <typename Real>
CORATE_INLINE double exponentiate_rows_of(Real* values, size_t rows, size_t width, size_t stride) {
    constexpr size_t lanes = kLanes<Real>;
    double shift = 0.0;
    for (size_t i = 0; i < rows; ++i)
        std::fill(values + i * stride + width, values + (i + 1) * stride, -static_cast<Real>(INFINITY));
    for (size_t i = 0; i < rows; ++i) {
        Real* row = values + i * stride;
        Real tops[lanes];
        for (size_t l = 0; l < lanes; ++l) tops[l] = row[l];
        for (size_t l = lanes; l < stride; l += lanes)
            for (size_t k = 0; k < lanes; ++k) tops[k] = row[l + k] > tops[k] ? row[l + k] : tops[k];
        Real top = tops[0];
        for (const Real one : tops) top = one > top ? one : top;
        if (top == -static_cast<Real>(INFINITY)) top = 0;
        shift += static_cast<double>(top);
        for (size_t l = 0; l < stride; ++l) row[l] -= top;
    }
    for (size_t i = 0; i < rows * stride; ++i) values[i] = fast_exp(values[i]);
    return shift;
}

template <typename Real>
CORATE_INLINE Real multiply_rows_of(Real* a, const Real* b, size_t n) {
    constexpr size_t lanes = kLanes<Real>;
    Real sums[lanes] = {};
    for (size_t l = 0; l < n; l += lanes)
        for (size_t i = 0; i < lanes; ++i) {
            a[l + i] *= b[l + i];
            sums[i] += a[l + i];
        }
    if constexpr (lanes == 8)  // additions do not wait for each other
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    Real sum = 0;
    for (const Real part : sums) sum += part;
    return sum;
}

template <typename Real>
CORATE_INLINE Real scaled_product_of(Real* a, const Real* b, size_t n) {
    const Real sum = multiply_rows_of(a, b, n), scale = sum > kSmallestSum<Real> ? Real(1) / sum : Real(0);
    for (size_t l = 0; l < n; ++l) a[l] *= scale;
    return sum;
}

template <typename Real>
CORATE_INLINE Real combine_rows_of(Real* node, Real* beta, const Real* alpha, Real scale, size_t n) {
    Real largest = 0;
    for (size_t l = 0; l < n; ++l) {
        const Real b = beta[l];
        largest = b > largest ? b : largest;
        beta[l] = node[l] * b * scale;
        node[l] = alpha[l] * b;
    }
    return largest;
}

}  // namespace

// The functions that exist for float and double.
#define CORATE_OF_REAL(Real)                                                                                                   \
    CORATE_BY_WIDTH(rows_times_matrix,                                                                                         \
                    (const Real* const* in, Real* const* out, size_t rows, size_t k_count, const Real* matrix, size_t stride), \
                    (in, out, rows, k_count, matrix, stride))                                                                  \
    CORATE_BY_WIDTH(add_products, (const Real* x, const Real* y, size_t rows, size_t k_count, size_t stride, Real* sums),      \
                    (x, y, rows, k_count, stride, sums))                                                                       \
    CORATE_FOR_EACH_PROCESSOR void exponentiate(Real* values, size_t n) {                                                      \
        for (size_t i = 0; i < n; ++i) values[i] = fast_exp(values[i]);                                                        \
    }                                                                                                                          \
    CORATE_FOR_EACH_PROCESSOR double exponentiate_rows(Real* values, size_t rows, size_t width, size_t stride) {               \
        return exponentiate_rows_of(values, rows, width, stride);                                                              \
    }                                                                                                                          \
    CORATE_FOR_EACH_PROCESSOR Real multiply_rows(Real* a, const Real* b, size_t n) { return multiply_rows_of(a, b, n); }       \
    CORATE_FOR_EACH_PROCESSOR Real scaled_product(Real* a, const Real* b, size_t n) { return scaled_product_of(a, b, n); }     \
    CORATE_FOR_EACH_PROCESSOR void scale_row(Real* a, Real factor, size_t n) {                                                 \
        for (size_t l = 0; l < n; ++l) a[l] *= factor;                                                                         \
    }                                                                                                                          \
    CORATE_FOR_EACH_PROCESSOR Real combine_rows(Real* node, Real* beta, const Real* alpha, Real scale, size_t n) {             \
        return combine_rows_of(node, beta, alpha, scale, n);                                                                   \
    }
CORATE_OF_REAL(float)
CORATE_OF_REAL(double)

CORATE_BY_WIDTH(add_rows, (float* out, const float* table, const int32_t* ids, const float* values, size_t count, size_t stride),
                (out, table, ids, values, count, stride))
CORATE_BY_WIDTH(sum_rows,
                (float* out, const float* const* rows, const int32_t* ids, const float* values, size_t count, size_t stride),
                (out, rows, ids, values, count, stride))
CORATE_BY_WIDTH(add_outer_products, (double* sums, const double* rows, size_t count, size_t n), (sums, rows, count, n))

CORATE_FOR_EACH_PROCESSOR
double dot(const double* a, const float* b, size_t n) {
    double sums[8] = {};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * static_cast<double>(b[i + k]);
    double total = 0.0;
    for (; i < n; ++i) total += a[i] * static_cast<double>(b[i]);
    for (const double sum : sums) total += sum;
    return total;
}

// Sums in several accumulators, so that additions do not wait for each other.
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

CORATE_FOR_EACH_PROCESSOR
void add_scaled(double* sum, double factor, const float* a, size_t n) {
    for (size_t i = 0; i < n; ++i) sum[i] += factor * static_cast<double>(a[i]);
}
