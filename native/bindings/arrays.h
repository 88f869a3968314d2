// NumPy arrays in and out: short names for the array types the kernels take, and owners for what they return.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;

// A read-only, C-contiguous array on the CPU.
template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// A writable one.
template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Hands a vector's memory to NumPy without copying it.
template <typename T>
Out<T> to_numpy(std::vector<T>&& values) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(held->data(), {held->size()}, owner);
}

template <typename T>
Out<T> to_numpy(std::unique_ptr<T[]>&& values, size_t n) {
    T* held = values.release();
    nb::capsule owner(held, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T>(held, {n}, owner);
}

template <typename T>
Out2<T> to_numpy(std::vector<T>&& values, size_t rows, size_t columns) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out2<T>(held->data(), {rows, columns}, owner);
}

// Offsets of rows among n items: they start at 0, never fall and end at n. Everything indexed by offsets relies on it.
inline void check_offsets(const In<int64_t>& offsets, size_t n, const char* what) {
    const size_t size = offsets.shape(0);
    if (size == 0 || offsets(0) != 0 || static_cast<size_t>(offsets(size - 1)) != n) throw nb::value_error(what);
    for (size_t i = 1; i < size; ++i)
        if (offsets(i) < offsets(i - 1)) throw nb::value_error(what);
}
