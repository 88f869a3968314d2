// Conversions between NumPy arrays and kernels: short names for argument types, views for kernels, and owners of
// returned memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "core/strings.h"

namespace nb = nanobind;
using namespace nb::literals;

// A read-only, C-contiguous array on the CPU.
template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// A writable array.
template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Tuples of arrays that belong together.
using CsrArrays = std::tuple<In<int64_t>, In<int32_t>>;                      // offsets, ids
using LabelScoreArrays = std::tuple<In<int64_t>, In<int32_t>, In<float>>;    // offsets, labels, scores
using LabelCountArrays = std::tuple<In<int64_t>, In<int32_t>, In<int64_t>>;  // offsets, labels, counts
using StringArrays = std::tuple<In<uint8_t>, In<int64_t>>;                   // blob, offsets
using ColumnArrays = std::tuple<In<int32_t>, In<uint8_t>, In<int64_t>>;      // ids, blob, offsets

// Views of arrays for kernels. A view shares ownership, so the memory lives at least as long as the view.
template <typename T>
Array<T> view(const In<T>& array) {
    return {array.data(), array.shape(0), std::make_shared<In<T>>(array)};
}
template <typename T>
Matrix<T> view(const In2<T>& array) {
    return {Array<T>(array.data(), array.size(), std::make_shared<In2<T>>(array)), array.shape(0), array.shape(1)};
}
template <typename T>
std::optional<Array<T>> view(const std::optional<In<T>>& array) {
    return array ? std::optional(view(*array)) : std::nullopt;
}
inline Csr view(const CsrArrays& arrays) { return {view(std::get<0>(arrays)), view(std::get<1>(arrays))}; }
inline std::optional<Csr> view(const std::optional<CsrArrays>& arrays) {
    return arrays ? std::optional(view(*arrays)) : std::nullopt;
}
inline LabelScores view(const LabelScoreArrays& arrays) {
    return {view(std::get<0>(arrays)), view(std::get<1>(arrays)), view(std::get<2>(arrays))};
}
template <typename T>
std::span<T> writable(const InOut<T>& array) {
    return {array.data(), array.shape(0)};
}

// Moves a vector's memory to NumPy without a copy.
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

// Returns several vectors as a tuple of arrays.
template <typename... T>
nb::tuple to_tuple(std::vector<T>&&... values) {
    return nb::make_tuple(to_numpy(std::move(values))...);
}
template <typename... T>
nb::tuple to_tuple(std::tuple<std::vector<T>...>&& values) {
    return std::apply([](auto&&... each) { return to_tuple(std::move(each)...); }, std::move(values));
}

inline nb::tuple to_tuple(SparseRows&& rows) {
    return to_tuple(std::move(rows.offsets), std::move(rows.labels), std::move(rows.scores));
}

// Returns the strings of a table as (blob uint8, offsets int64).
inline nb::tuple to_python(const Interner& strings) {
    return to_tuple(std::vector<uint8_t>(strings.blob().begin(), strings.blob().end()), std::vector<int64_t>(strings.offsets()));
}

// Calls a function without the GIL, so that other Python threads can run.
template <typename Work>
auto unlocked(Work work) {
    const nb::gil_scoped_release release;
    return work();
}
