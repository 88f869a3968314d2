// Dense kernels over rows of floats. See vectors.h.
#include "core/vectors.h"

#include <algorithm>
#include <cmath>

#include "core/tiles.h"

namespace {

// How many tiles of a row are summed at once: as many as the registers hold for four rows.
template <size_t Bytes>
constexpr size_t kAcross = Bytes == 64 ? 2 : 1;

// out(r, l ..) = sum_k in(r, k) matrix(k, l ..) for R rows.
template <size_t Bytes, size_t R>
CORATE_INLINE void block_product(const float* const* in, float* const* out, size_t k_count, const float* matrix, size_t stride,
                                 size_t l) {
    constexpr size_t across = kAcross<Bytes>;
    Tile<Bytes> sums[R][across] = {};
    for (size_t k = 0; k < k_count; ++k)
        for (size_t t = 0; t < across; ++t) {
            const auto a = Tile<Bytes>::load(matrix + k * stride + l + t * kTile);
            for (size_t r = 0; r < R; ++r) sums[r][t] += in[r][k] * a;
        }
    for (size_t r = 0; r < R; ++r)
        for (size_t t = 0; t < across; ++t) sums[r][t].store(out[r] + l + t * kTile);
}

template <size_t Bytes>
CORATE_INLINE void rows_times_matrix_by(const float* const* in, float* const* out, size_t rows, size_t k_count,
                                        const float* matrix, size_t stride) {
    for (size_t l = 0; l < stride; l += kAcross<Bytes> * kTile) {
        size_t r = 0;
        for (; r + 4 <= rows; r += 4) block_product<Bytes, 4>(in + r, out + r, k_count, matrix, stride, l);
        for (; r < rows; ++r) block_product<Bytes, 1>(in + r, out + r, k_count, matrix, stride, l);
    }
}

template <size_t Bytes>
CORATE_INLINE void add_products_by(const float* x, const float* y, size_t rows, size_t k_count, size_t stride, float* sums) {
    constexpr size_t across = kAcross<Bytes>;
    for (size_t k = 0; k < k_count; k += 4)
        for (size_t l = 0; l < stride; l += across * kTile) {
            Tile<Bytes> block[4][across] = {};
            for (size_t i = 0; i < rows; ++i)
                for (size_t t = 0; t < across; ++t) {
                    const auto a = Tile<Bytes>::load(y + i * stride + l + t * kTile);
                    for (size_t r = 0; r < 4; ++r) block[r][t] += x[i * stride + k + r] * a;
                }
            for (size_t r = 0; r < 4; ++r)
                for (size_t t = 0; t < across; ++t) {
                    float* at = sums + (k + r) * stride + l + t * kTile;
                    auto sum = Tile<Bytes>::load(at);
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
CORATE_INLINE void row_times_matrix_by(const double* row, const double* matrix, size_t n, size_t stride, double* out) {
    for (size_t l = 0; l < stride; l += 8) {
        Eight<Bytes> sum = {};
        for (size_t k = 0; k < n; ++k) sum += row[k] * Eight<Bytes>::load(matrix + k * stride + l);
        sum.store(out + l);
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

}  // namespace

CORATE_BY_WIDTH(rows_times_matrix,
                (const float* const* in, float* const* out, size_t rows, size_t k_count, const float* matrix, size_t stride),
                (in, out, rows, k_count, matrix, stride))
CORATE_BY_WIDTH(add_products, (const float* x, const float* y, size_t rows, size_t k_count, size_t stride, float* sums),
                (x, y, rows, k_count, stride, sums))
CORATE_BY_WIDTH(add_rows, (float* out, const float* table, const int32_t* ids, const float* values, size_t count, size_t stride),
                (out, table, ids, values, count, stride))
CORATE_BY_WIDTH(sum_rows,
                (float* out, const float* const* rows, const int32_t* ids, const float* values, size_t count, size_t stride),
                (out, rows, ids, values, count, stride))
CORATE_BY_WIDTH(row_times_matrix, (const double* row, const double* matrix, size_t n, size_t stride, double* out),
                (row, matrix, n, stride, out))
CORATE_BY_WIDTH(add_outer_products, (double* sums, const double* rows, size_t count, size_t n), (sums, rows, count, n))

CORATE_FOR_EACH_PROCESSOR
void exponentiate(double* values, size_t n) {
    for (size_t i = 0; i < n; ++i) values[i] = fast_exp(values[i]);
}

CORATE_FOR_EACH_PROCESSOR
void exponentiate(float* values, size_t n) {
    for (size_t i = 0; i < n; ++i) values[i] = fast_exp(values[i]);
}

CORATE_FOR_EACH_PROCESSOR
double exponentiate_rows(float* values, size_t rows, size_t width, size_t stride) {
    double shift = 0.0;
    for (size_t i = 0; i < rows; ++i) {
        float* row = values + i * stride;
        for (size_t l = width; l < stride; ++l) row[l] = row[0];
        float tops[kTile];
        for (size_t l = 0; l < kTile; ++l) tops[l] = row[l];
        for (size_t l = kTile; l < stride; l += kTile)
            for (size_t k = 0; k < kTile; ++k) tops[k] = row[l + k] > tops[k] ? row[l + k] : tops[k];
        float top = tops[0];
        for (const float one : tops) top = one > top ? one : top;
        shift += static_cast<double>(top);
        for (size_t l = 0; l < stride; ++l) row[l] = fast_exp(row[l] - top);
        for (size_t l = width; l < stride; ++l) row[l] = 0.0f;
    }
    return shift;
}

CORATE_FOR_EACH_PROCESSOR
double exponentiate_rows(const float* scores, size_t rows, size_t width, size_t stride, double* potentials) {
    double shift = 0.0;
    for (size_t i = 0; i < rows; ++i) {
        const float* row = scores + i * width;
        double* out = potentials + i * stride;
        float top = row[0];
        for (size_t l = 1; l < width; ++l) top = row[l] > top ? row[l] : top;
        shift += static_cast<double>(top);
        for (size_t l = 0; l < width; ++l) out[l] = static_cast<double>(row[l]) - static_cast<double>(top);
        for (size_t l = width; l < stride; ++l) out[l] = -INFINITY;
        for (size_t l = 0; l < stride; ++l) out[l] = fast_exp(out[l]);
    }
    return shift;
}

CORATE_FOR_EACH_PROCESSOR
float multiply_rows(float* a, const float* b, size_t n) {
    float sums[kTile] = {};
    for (size_t l = 0; l < n; l += kTile)
        for (size_t i = 0; i < kTile; ++i) {
            a[l + i] *= b[l + i];
            sums[i] += a[l + i];
        }
    float sum = 0.0f;
    for (const float part : sums) sum += part;
    return sum;
}

CORATE_FOR_EACH_PROCESSOR
void scale_row(float* a, float factor, size_t n) {
    for (size_t l = 0; l < n; ++l) a[l] *= factor;
}

CORATE_FOR_EACH_PROCESSOR
float combine_rows(float* node, float* beta, const float* alpha, float scale, size_t n) {
    float largest = 0.0f;
    for (size_t l = 0; l < n; ++l) {
        const float b = beta[l];
        largest = b > largest ? b : largest;
        beta[l] = node[l] * b * scale;
        node[l] = alpha[l] * b;
    }
    return largest;
}

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
