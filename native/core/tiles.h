// Short vectors at any address, which compilers map to the vectors of the processor, and aligned memory for them.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include "core/vectors.h"

constexpr size_t kTile = 16;

#if defined(__GNUC__)
// Sixteen floats, or eight doubles.
typedef float Tile __attribute__((vector_size(64), aligned(4)));
typedef double Eight __attribute__((vector_size(64), aligned(8)));
#else
template <typename Real, size_t N>
struct Lanes {
    Real x[N];
    Lanes& operator+=(const Lanes& other) {
        for (size_t i = 0; i < N; ++i) x[i] += other.x[i];
        return *this;
    }
    friend Lanes operator*(Real a, const Lanes& b) {
        Lanes out;
        for (size_t i = 0; i < N; ++i) out.x[i] = a * b.x[i];
        return out;
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
        Lanes out;
        for (size_t i = 0; i < N; ++i) out.x[i] = a.x[i] - b.x[i];
        return out;
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
        Lanes out;
        for (size_t i = 0; i < N; ++i) out.x[i] = a.x[i] * b.x[i];
        return out;
    }
};
using Tile = Lanes<float, kTile>;
using Eight = Lanes<double, 8>;
#endif

CORATE_INLINE Tile& tile(float* at) { return *reinterpret_cast<Tile*>(at); }
CORATE_INLINE const Tile& tile(const float* at) { return *reinterpret_cast<const Tile*>(at); }

// most = the element-wise maximum.
CORATE_INLINE void keep_larger(Tile& most, const Tile& x) {
#if defined(__GNUC__)
    most = x > most ? x : most;
#else
    for (size_t i = 0; i < kTile; ++i) most.x[i] = x.x[i] > most.x[i] ? x.x[i] : most.x[i];
#endif
}

// Allocates whole cache lines: a tile that crosses a cache line takes twice as long.
template <typename T>
struct CacheLines {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};
    CacheLines() = default;
    template <typename Other>
    CacheLines(const CacheLines<Other>&) {}
    T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* p, size_t) { ::operator delete(p, kLine); }
    template <typename Other>
    bool operator==(const CacheLines<Other>&) const {
        return true;
    }
};
using Tiles = std::vector<float, CacheLines<float>>;
