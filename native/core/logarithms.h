// Logarithms with the same bits on every processor. Those of the C library depend on it, in the last place: see also fast_exp in
// core/vectors.h.
//
//     log(2^e m) = e log 2 + log m,   log m = 2 (s + s^3 / 3 + s^5 / 5 + ...),   s = (m - 1) / (m + 1),   1 / sqrt 2 < m < sqrt 2
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/vectors.h"

// log x with an error of at most two units in the last place.
CORATE_INLINE double portable_log(double x) {
    if (!(x > 0.0) || x == INFINITY) return x == 0.0 ? -static_cast<double>(INFINITY) : (x > 0.0 ? x : x - x + NAN);
    double least = 0.0;
    if (x < 2.2250738585072014e-308) {  // not a normal number
        x *= 18014398509481984.0;       // 2^54
        least = -54.0;
    }
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
    const auto exponent = static_cast<int64_t>(bits - kRootOfHalf) >> 52;
    bits -= static_cast<uint64_t>(exponent) << 52;
    double m;
    std::memcpy(&m, &bits, sizeof m);
    const double e = static_cast<double>(exponent) + least, f = m - 1.0, s = f / (m + 1.0), z = s * s, w = z * z;
    const double odd = 1.0 / 3.0 + w * (1.0 / 7.0 + w * (1.0 / 11.0 + w * (1.0 / 15.0 + w * (1.0 / 19.0))));
    const double even = 1.0 / 5.0 + w * (1.0 / 9.0 + w * (1.0 / 13.0 + w * (1.0 / 17.0)));
    // 2 s = f - s f, so that the largest term is exact.
    const double rest = 2.0 * s * z * (odd + z * even) - s * f;
    return e * 6.93147180369123816490e-01 + (f + (rest + e * 1.90821492927058770002e-10));
}

// log(1 + x), for x from -1 on.
CORATE_INLINE double portable_log1p(double x) {
    const double sum = 1.0 + x;
    if (!(sum > 0.0) || sum == INFINITY || sum == 1.0) return sum == 1.0 ? x : portable_log(sum);
    return portable_log(sum) + (sum > 2.0 ? 1.0 - (sum - x) : x - (sum - 1.0)) / sum;
}
