// Strings as ids: hashing, and interning into one growing blob of UTF-8 bytes.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/prefetch.h"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

// Multiplies to 128 bits and folds the halves: the mixing step of every hash here.
inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const __uint128_t product = static_cast<__uint128_t>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t high;
    const uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    const uint64_t ah = a >> 32, al = a & 0xffffffffu, bh = b >> 32, bl = b & 0xffffffffu;
    const uint64_t mid1 = ah * bl, mid2 = al * bh, low = al * bl;
    const uint64_t carry = ((low >> 32) + (mid1 & 0xffffffffu) + (mid2 & 0xffffffffu)) >> 32;
    return (a * b) ^ (ah * bh + (mid1 >> 32) + (mid2 >> 32) + carry);
#endif
}

inline uint64_t hash_key(uint64_t key) { return fold_multiply(key ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u); }

inline uint64_t hash_bytes(const char* data, size_t size) {
    constexpr uint64_t k0 = 0xa0761d6478bd642fu, k1 = 0xe7037ed1a0b428dbu;
    uint64_t h = k0 ^ size;
    while (size >= 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        h = fold_multiply(h ^ word, k1);
        data += 8;
        size -= 8;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < size; ++i) tail |= static_cast<uint64_t>(static_cast<unsigned char>(data[i])) << (8 * i);
    return fold_multiply(h ^ tail, k1 ^ k0);
}

inline uint64_t hash_bytes(std::string_view s) { return hash_bytes(s.data(), s.size()); }

// Distinct strings numbered in order of first appearance. Open addressing with linear probing; the load is at most one half. A
// slot holds the upper half of the hash and the id plus one, so most failed lookups read no string.
class Interner {
   public:
    Interner() : offsets_{0}, slots_(64, 0), mask_(63) {}

    size_t size() const { return offsets_.size() - 1; }
    std::string_view at(int32_t id) const {
        return {blob_.data() + offsets_[id], static_cast<size_t>(offsets_[id + 1] - offsets_[id])};
    }
    const std::vector<char>& blob() const { return blob_; }
    const std::vector<int64_t>& offsets() const { return offsets_; }
    // The memory that it holds.
    size_t bytes() const {
        return blob_.capacity() + sizeof(int64_t) * offsets_.capacity() + sizeof(uint64_t) * slots_.capacity();
    }

    int32_t find(std::string_view s) const { return find(s, hash_bytes(s)); }
    int32_t find(std::string_view s, uint64_t hash) const {
        for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
            const uint64_t slot = slots_[i];
            if (slot == 0) return -1;
            if ((slot >> 32) == (hash >> 32)) {
                const auto id = static_cast<int32_t>((slot & 0xffffffffu) - 1);
                if (at(id) == s) return id;
            }
        }
    }

    // Fetches the memory that `find` will read first for a string with this hash.
    void prefetch(uint64_t hash) const { ::prefetch(&slots_[hash & mask_]); }

    int32_t intern(std::string_view s) { return intern(s, hash_bytes(s)); }
    int32_t intern(std::string_view s, uint64_t hash) {
        size_t i = hash & mask_;
        for (;; i = (i + 1) & mask_) {
            const uint64_t slot = slots_[i];
            if (slot == 0) break;
            if ((slot >> 32) == (hash >> 32)) {
                const auto id = static_cast<int32_t>((slot & 0xffffffffu) - 1);
                if (at(id) == s) return id;
            }
        }
        if (size() >= 0x7ffffffe) throw std::length_error("more than 2^31 distinct strings");
        const auto id = static_cast<int32_t>(size());
        blob_.insert(blob_.end(), s.begin(), s.end());
        offsets_.push_back(static_cast<int64_t>(blob_.size()));
        slots_[i] = (hash & 0xffffffff00000000u) | static_cast<uint64_t>(id + 1);
        if (2 * size() > mask_) grow();
        return id;
    }

    void reserve(size_t strings, size_t bytes = 0) {
        while (2 * strings > mask_) grow();
        offsets_.reserve(strings + 1);
        blob_.reserve(bytes);
    }

   private:
    void grow() {
        mask_ = 2 * mask_ + 1;
        slots_.assign(mask_ + 1, 0);
        for (size_t id = 0; id < size(); ++id) {
            const uint64_t hash = hash_bytes(at(static_cast<int32_t>(id)));
            size_t i = hash & mask_;
            while (slots_[i] != 0) i = (i + 1) & mask_;
            slots_[i] = (hash & 0xffffffff00000000u) | static_cast<uint64_t>(id + 1);
        }
    }

    std::vector<char> blob_;
    std::vector<int64_t> offsets_;
    std::vector<uint64_t> slots_;
    uint64_t mask_;
};

// Distinct 64-bit keys numbered in order of first appearance: pairs of ids, and sequences of them, as features.
class KeyInterner {
   public:
    KeyInterner() : slots_(64), mask_(63) {}

    size_t size() const { return keys_.size(); }
    const std::vector<uint64_t>& keys() const { return keys_; }
    // The memory that it holds.
    size_t bytes() const { return sizeof(uint64_t) * keys_.capacity() + sizeof(Slot) * slots_.capacity(); }

    int32_t find(uint64_t key) const {
        for (size_t i = hash_key(key) & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.id < 0) return -1;
            if (slot.key == key) return slot.id;
        }
    }

    int32_t intern(uint64_t key) {
        size_t i = hash_key(key) & mask_;
        for (;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.id < 0) break;
            if (slot.key == key) return slot.id;
        }
        if (size() >= 0x7ffffffe) throw std::length_error("more than 2^31 distinct features in one template");
        const auto id = static_cast<int32_t>(size());
        keys_.push_back(key);
        slots_[i] = Slot{key, id};
        if (2 * size() > mask_) grow();
        return id;
    }

    void reserve(size_t keys) {
        while (2 * keys > mask_) grow();
        keys_.reserve(keys);
    }

    void prefetch(uint64_t key) const { ::prefetch(&slots_[hash_key(key) & mask_]); }

   private:
    struct Slot {
        uint64_t key = 0;
        int32_t id = -1;
    };

    void grow() {
        mask_ = 2 * mask_ + 1;
        slots_.assign(mask_ + 1, Slot{});
        for (size_t id = 0; id < keys_.size(); ++id) {
            size_t i = hash_key(keys_[id]) & mask_;
            while (slots_[i].id >= 0) i = (i + 1) & mask_;
            slots_[i] = Slot{keys_[id], static_cast<int32_t>(id)};
        }
    }

    std::vector<uint64_t> keys_;
    std::vector<Slot> slots_;
    uint64_t mask_;
};
