// SplitMix64: the same pseudo-random numbers on all platforms.
#pragma once
#include <cstdint>

inline uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// The bits as a number in [0, 1).
inline double as_uniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }
