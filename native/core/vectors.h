// Arithmetic on arrays of floats, compiled for several generations of processors. The best version is chosen at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

// The thread sanitizer also instruments the functions that choose a version. They run before its runtime is linked.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(__SANITIZE_THREAD__)
#define CORATE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define CORATE_INLINE inline __attribute__((always_inline))
// Defines NAME as the template NAME_by, with the bytes of the processor's vectors as its argument.
#define CORATE_BY_WIDTH(NAME, PARAMETERS, ARGUMENTS)                                                   \
    namespace {                                                                                        \
    __attribute__((target("arch=x86-64-v4"))) void NAME##_here PARAMETERS { NAME##_by<64> ARGUMENTS; } \
    __attribute__((target("arch=x86-64-v3"))) void NAME##_here PARAMETERS { NAME##_by<32> ARGUMENTS; } \
    __attribute__((target("default"))) void NAME##_here PARAMETERS { NAME##_by<16> ARGUMENTS; }        \
    }                                                                                                  \
    void NAME PARAMETERS { NAME##_here ARGUMENTS; }
#else
#define CORATE_FOR_EACH_PROCESSOR
#define CORATE_INLINE inline
#define CORATE_BY_WIDTH(NAME, PARAMETERS, ARGUMENTS) \
    void NAME PARAMETERS { NAME##_by<16> ARGUMENTS; }
#endif

// e^x with a relative error of about 2e-7, for x up to 88; 0 below -87. Compilers can vectorise loops over it.
CORATE_INLINE float fast_exp(float x) {
    const float clipped = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    const float turns = clipped * 1.44269504f;
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const float whole = (turns + magic) - magic;
    float r = clipped - whole * 0.693359375f;
    r -= whole * -2.12194440e-4f;
    // Taylor series to the sixth power: |r| is at most 0.35.
    float p = 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const int32_t bits = (static_cast<int32_t>(whole) + 127) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return x < -87.0f ? 0.0f : p * power;
}

// e^x with an error of at most a few units in the last place, for x up to 709; 0 below -708. Compilers can vectorise loops over it.
CORATE_INLINE double fast_exp(double x) {
    const double clipped = x < -708.0 ? -708.0 : x;
    const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, which the low bits then hold
    const double shifted = clipped * 1.4426950408889634 + magic;
    const double whole = shifted - magic;
    double r = clipped - whole * 6.93145751953125e-1;
    r -= whole * 1.42860682030941723212e-6;
    // Taylor series to the twelfth power: |r| is at most 0.35.
    double p = 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return x < -708.0 ? 0.0 : p * power;
}

// The limits of forward-backward with scaled products: the sum of a position's alphas before scaling, and its largest beta. A
// potential below e^-87 in float32, or e^-708 in float64, is lost; within these limits its contribution is at most
// e^-87 kLargestBeta / kSmallestSum = 2e-6, or 1e-28.
template <typename Real>
constexpr Real kSmallestSum = sizeof(Real) == 4 ? Real(1e-16) : Real(1e-140);
template <typename Real>
constexpr Real kLargestBeta = sizeof(Real) == 4 ? Real(1e16) : Real(1e140);

// Turns scores into potentials, dividing those from at[j] to at[j + 1] by their maximum. Returns the sum of the logarithms of
// the maxima.
template <typename Real>
CORATE_INLINE double exponentiate(Real* values, const size_t* at, size_t count) {
    double shift = 0.0;
    for (size_t j = 0; j < count; ++j) {
        Real top = values[at[j]];
        for (size_t i = at[j] + 1; i < at[j + 1]; ++i) top = values[i] > top ? values[i] : top;
        if (!(top > -std::numeric_limits<Real>::infinity())) top = 0;
        shift += static_cast<double>(top);
        for (size_t i = at[j]; i < at[j + 1]; ++i) values[i] -= top;
    }
    for (size_t i = at[0]; i < at[count]; ++i) values[i] = fast_exp(values[i]);
    return shift;
}

// Rows below have `stride` numbers, a multiple of 32 floats or 8 doubles, with zeros after the used part.
#define CORATE_ROWS_OF(Real)                                                                                                  \
    /* values = e^values, for values up to 709 or, in float32, 88. */                                                         \
    void exponentiate(Real* values, size_t n);                                                                                \
    /* out(r) = in(r) matrix for each row. Only the first k_count entries of `in` are used. */                                \
    void rows_times_matrix(const Real* const* in, Real* const* out, size_t rows, size_t k_count, const Real* matrix,          \
                           size_t stride);                                                                                    \
    /* sums(k, l) += sum over rows i of x(i, k) y(i, l), for k below k_count rounded up to four. */                           \
    void add_products(const Real* x, const Real* y, size_t rows, size_t k_count, size_t stride, Real* sums);                  \
    /* Turns scores into potentials, dividing each row by its maximum. Returns the sum of the logarithms of the maxima. */    \
    double exponentiate_rows(Real* values, size_t rows, size_t width, size_t stride);                                         \
    /* a *= b; returns the sum of a. */                                                                                       \
    Real multiply_rows(Real* a, const Real* b, size_t n);                                                                     \
    /* The same, and divides a by its sum, if this exceeds kSmallestSum; otherwise, a becomes 0. */                           \
    Real scaled_product(Real* a, const Real* b, size_t n);                                                                    \
    void scale_row(Real* a, Real factor, size_t n);                                                                           \
    /* Combines forward and backward: node becomes alpha beta, and beta becomes node beta scale. Returns the largest beta. */ \
    Real combine_rows(Real* node, Real* beta, const Real* alpha, Real scale, size_t n);
CORATE_ROWS_OF(float)
CORATE_ROWS_OF(double)
#undef CORATE_ROWS_OF

// out += the sum over i of values(i) row(ids(i)) of a table.
void add_rows(float* out, const float* table, const int32_t* ids, const float* values, size_t count, size_t stride);
// out = the sum over i of values(i) rows(ids(i)). Without values, all are 1.
void sum_rows(float* out, const float* const* rows, const int32_t* ids, const float* values, size_t count, size_t stride);

// The inner product of two arrays of n numbers.
double dot(const double* a, const float* b, size_t n);
double dot(const double* a, const double* b, size_t n);
// sum += factor a, for n numbers.
void add_scaled(double* sum, double factor, const float* a, size_t n);
// The upper triangle of sums += the sum over rows of row row'. n is a multiple of 8 and the length of a row. Parts of the lower
// triangle may change.
void add_outer_products(double* sums, const double* rows, size_t count, size_t n);
