// Dense kernels over rows of floats. See vectors.h.
#include "core/vectors.h"

#include <algorithm>

#include "core/tiles.h"

namespace {

// out(r, l .. l + 32) = sum_k in(r, k) matrix(k, l .. l + 32) for R rows.
template <size_t R>
CORATE_INLINE void block_product(const float* const* in, float* const* out, size_t k_count, const float* matrix, size_t stride,
                                 size_t l) {
    Tile low[R] = {}, high[R] = {};
    for (size_t k = 0; k < k_count; ++k) {
        const Tile& a = tile(matrix + k * stride + l);
        const Tile& b = tile(matrix + k * stride + l + kTile);
        for (size_t r = 0; r < R; ++r) {
            low[r] += in[r][k] * a;
            high[r] += in[r][k] * b;
        }
    }
    for (size_t r = 0; r < R; ++r) {
        tile(out[r] + l) = low[r];
        tile(out[r] + l + kTile) = high[r];
    }
}

}  // namespace

CORATE_FOR_EACH_PROCESSOR
void rows_times_matrix(const float* const* in, float* const* out, size_t rows, size_t k_count, const float* matrix,
                       size_t stride) {
    for (size_t l = 0; l < stride; l += 2 * kTile) {
        size_t r = 0;
        for (; r + 4 <= rows; r += 4) block_product<4>(in + r, out + r, k_count, matrix, stride, l);
        for (; r < rows; ++r) block_product<1>(in + r, out + r, k_count, matrix, stride, l);
    }
}

CORATE_FOR_EACH_PROCESSOR
void add_products(const float* x, const float* y, size_t rows, size_t k_count, size_t stride, float* sums) {
    for (size_t k = 0; k < k_count; k += 4)
        for (size_t l = 0; l < stride; l += 2 * kTile) {
            Tile low[4] = {}, high[4] = {};
            for (size_t i = 0; i < rows; ++i) {
                const Tile& a = tile(y + i * stride + l);
                const Tile& b = tile(y + i * stride + l + kTile);
                for (size_t r = 0; r < 4; ++r) {
                    low[r] += x[i * stride + k + r] * a;
                    high[r] += x[i * stride + k + r] * b;
                }
            }
            for (size_t r = 0; r < 4; ++r) {
                tile(sums + (k + r) * stride + l) += low[r];
                tile(sums + (k + r) * stride + l + kTile) += high[r];
            }
        }
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
void add_rows(float* out, const float* table, const int32_t* ids, const float* values, size_t count, size_t stride) {
    for (size_t l = 0; l < stride; l += 2 * kTile) {
        Tile low = tile(out + l), high = tile(out + l + kTile);
        for (size_t i = 0; i < count; ++i) {
            const float* row = table + static_cast<size_t>(ids[i]) * stride + l;
            low += values[i] * tile(row);
            high += values[i] * tile(row + kTile);
        }
        tile(out + l) = low;
        tile(out + l + kTile) = high;
    }
}

CORATE_FOR_EACH_PROCESSOR
void sum_rows(float* out, const float* const* rows, const int32_t* ids, const float* values, size_t count, size_t stride) {
    for (size_t l = 0; l < stride; l += 2 * kTile) {
        Tile low = {}, high = {};
        if (values == nullptr)
            for (size_t i = 0; i < count; ++i) {
                low += tile(rows[ids[i]] + l);
                high += tile(rows[ids[i]] + l + kTile);
            }
        else
            for (size_t i = 0; i < count; ++i) {
                low += values[i] * tile(rows[ids[i]] + l);
                high += values[i] * tile(rows[ids[i]] + l + kTile);
            }
        tile(out + l) = low;
        tile(out + l + kTile) = high;
    }
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

CORATE_FOR_EACH_PROCESSOR
void add_outer_products(double* sums, const double* rows, size_t count, size_t n) {
    for (size_t i = 0; i < n; i += 8)
        for (size_t j = i; j < n; j += 8) {  // a square of eight by eight stays in registers
            Eight square[8] = {};
            for (size_t r = 0; r < count; ++r) {
                const double* left = rows + r * n + i;
                const Eight& right = *reinterpret_cast<const Eight*>(rows + r * n + j);
                for (size_t k = 0; k < 8; ++k) square[k] += left[k] * right;
            }
            for (size_t k = 0; k < 8; ++k) *reinterpret_cast<Eight*>(sums + (i + k) * n + j) += square[k];
        }
}
