#include "core/many_logarithms.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/logarithms.h"

// The steps of portable_log without a branch, so that the loop vectorises. The exponent becomes a number by way of the low bits of
// a large one, because only some processors convert whole vectors of integers.
CORATE_FOR_EACH_PROCESSOR void logarithms(double* values, size_t n) {
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = uint64_t{1024} << 52, kMagic = 0x4330000000000000;
    constexpr double kMagicNumber = 4503599627370496.0 + 1024.0;  // 2^52, and the bias
    for (size_t k = 0; k < n; ++k) {
        const double x = values[k];
        const bool small = x < 2.2250738585072014e-308;  // not a normal number
        const double y = small ? x * 18014398509481984.0 : x;
        uint64_t bits;
        std::memcpy(&bits, &y, sizeof bits);
        const uint64_t shifted = bits - kRootOfHalf + kBias;
        const uint64_t exponent = kMagic | (shifted >> 52);
        bits -= ((shifted >> 52) << 52) - kBias;
        double e, m;
        std::memcpy(&e, &exponent, sizeof e);
        std::memcpy(&m, &bits, sizeof m);
        e = (e - kMagicNumber) + (small ? -54.0 : 0.0);
        const double f = m - 1.0, s = f / (m + 1.0), z = s * s, w = z * z;
        const double odd = 1.0 / 3.0 + w * (1.0 / 7.0 + w * (1.0 / 11.0 + w * (1.0 / 15.0 + w * (1.0 / 19.0))));
        const double even = 1.0 / 5.0 + w * (1.0 / 9.0 + w * (1.0 / 13.0 + w * (1.0 / 17.0)));
        const double rest = 2.0 * s * z * (odd + z * even) - s * f;
        const double found = e * 6.93147180369123816490e-01 + (f + (rest + e * 1.90821492927058770002e-10));
        values[k] = x > 0.0 ? found : -static_cast<double>(INFINITY);
    }
}
