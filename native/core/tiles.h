// Sixteen floats, or eight doubles, in vectors of the width that a processor has, and aligned memory for them.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

#include "core/vectors.h"

constexpr size_t kTile = 16;

// 64 bytes of numbers, in vectors of `Bytes` bytes. Vectors that are wider than those of the processor would be kept in memory,
// which is many times slower: CORATE_BY_WIDTH in vectors.h chooses the width.
template <typename Real, size_t Bytes>
struct TileOf {
#if defined(__GNUC__)
    typedef Real Part __attribute__((vector_size(Bytes), aligned(sizeof(Real))));
#else
    using Part = Real;
#endif
    static constexpr size_t kParts = 64 / sizeof(Part), kLanes = sizeof(Part) / sizeof(Real);
    Part part[kParts];

    // Loads and stores each part by itself: compilers copy the whole through memory.
    static CORATE_INLINE TileOf load(const Real* from) {
        TileOf out;
        for (size_t i = 0; i < kParts; ++i) out.part[i] = *reinterpret_cast<const Part*>(from + i * kLanes);
        return out;
    }
    CORATE_INLINE void store(Real* to) const {
        for (size_t i = 0; i < kParts; ++i) *reinterpret_cast<Part*>(to + i * kLanes) = part[i];
    }
    CORATE_INLINE TileOf& operator+=(const TileOf& other) {
        for (size_t i = 0; i < kParts; ++i) part[i] += other.part[i];
        return *this;
    }
    friend CORATE_INLINE TileOf operator*(Real a, const TileOf& b) {
        TileOf out;
        for (size_t i = 0; i < kParts; ++i) out.part[i] = a * b.part[i];
        return out;
    }
    friend CORATE_INLINE TileOf operator*(const TileOf& a, const TileOf& b) {
        TileOf out;
        for (size_t i = 0; i < kParts; ++i) out.part[i] = a.part[i] * b.part[i];
        return out;
    }
    friend CORATE_INLINE TileOf operator-(const TileOf& a, const TileOf& b) {
        TileOf out;
        for (size_t i = 0; i < kParts; ++i) out.part[i] = a.part[i] - b.part[i];
        return out;
    }
    // Replaces each number by the larger of the two.
    CORATE_INLINE void keep_larger(const TileOf& other) {
        for (size_t i = 0; i < kParts; ++i) part[i] = other.part[i] > part[i] ? other.part[i] : part[i];
    }
    CORATE_INLINE Real sum() const {
        Real each[kParts * kLanes];
        store(each);
        Real total = 0;
        for (const Real x : each) total += x;
        return total;
    }
};

template <size_t Bytes>
using Tile = TileOf<float, Bytes>;
template <size_t Bytes>
using Eight = TileOf<double, Bytes>;

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
