// Conversions between NumPy arrays and kernels: short names for argument types, views for kernels, and owners of
// returned memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/array.h"
#include "core/sparse_rows.h"
#include "core/string_table.h"

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

// Returns ids with the strings that they stand for: (ids, blob, offsets).
inline nb::tuple with_table(std::vector<int32_t>&& ids, const Interner& strings) {
    const nb::tuple table = to_python(strings);
    return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
}

// Calls a function without the GIL, so that other Python threads can run.
template <typename Work>
auto unlocked(Work work) {
    const nb::gil_scoped_release release;
    return work();
}
// For functions that are bound as they are: arguments are unpacked and results packed with the GIL, and the call is without it.
constexpr nb::call_guard<nb::gil_scoped_release> without_lock;

namespace nanobind::detail {

// Arrays as arguments of functions of the core: views, which share ownership.
template <typename Numpy>
struct view_caster {
    using View = decltype(view(std::declval<Numpy>()));
    NB_TYPE_CASTER(View, make_caster<Numpy>::Name)
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<Numpy> array;
        const bool fits = array.from_python(source, flags, cleanup);
        if (fits) value = view(array.value);
        return fits;
    }
};
template <typename T>
struct type_caster<Array<T>> : view_caster<In<T>> {};
template <typename T>
struct type_caster<Matrix<T>> : view_caster<In2<T>> {};

// Arrays for the time of a call: only as arguments of their own, not in a tuple or an optional. Those that are written to are never
// converted, because a copy would be written to.
template <typename T>
struct type_caster<std::span<T>> {
    using Numpy = std::conditional_t<std::is_const_v<T>, In<std::remove_const_t<T>>, InOut<T>>;
    NB_TYPE_CASTER(std::span<T>, make_caster<Numpy>::Name)
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!std::is_const_v<T>) flags &= ~static_cast<uint32_t>(cast_flags::convert);
        const bool fits = array.from_python(source, flags, cleanup);
        if (fits) value = {array.value.data(), array.value.size()};
        return fits;
    }
    make_caster<Numpy> array;
};

// A tuple as an argument: a struct of its fields.
template <typename Struct, typename... Fields>
struct fields_caster {
    using Tuple = std::tuple<Fields...>;
    NB_TYPE_CASTER(Struct, make_caster<Tuple>::Name)
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<Tuple> tuple;
        if (!tuple.from_python(source, flags, cleanup) || !tuple.template can_cast<Tuple>()) return false;
        value = std::apply([](Fields&&... fields) { return Struct{std::move(fields)...}; }, tuple.operator Tuple());
        return true;
    }
};
template <>
struct type_caster<Csr> : fields_caster<Csr, Array<int64_t>, Array<int32_t>> {};
template <>
struct type_caster<LabelScores> : fields_caster<LabelScores, Array<int64_t>, Array<int32_t>, Array<float>> {};
template <>
struct type_caster<StringTable> : fields_caster<StringTable, Array<uint8_t>, Array<int64_t>> {};

// Numbers as a result: an array, which takes over the memory of the vector. As an argument: a copy of an array, or a list.
template <typename T>
    requires std::is_arithmetic_v<T>
struct type_caster<std::vector<T>> : list_caster<std::vector<T>, T> {
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<In<T>> array;
        if (!array.from_python(source, flags, cleanup))
            return list_caster<std::vector<T>, T>::from_python(source, flags, cleanup);
        this->value.assign(array.value.data(), array.value.data() + array.value.size());
        return true;
    }
    static handle from_cpp(std::vector<T>&& numbers, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Out<T>>::from_cpp(to_numpy(std::move(numbers)), policy, cleanup);
    }
    static handle from_cpp(const std::vector<T>& numbers, rv_policy policy, cleanup_list* cleanup) {
        return from_cpp(std::vector<T>(numbers), policy, cleanup);
    }
};

// A struct as a result: a tuple of some of its fields.
template <typename Struct, auto... Fields>
struct result_caster {
    static constexpr auto Name = const_name("tuple");
    static handle from_cpp(Struct&& result, rv_policy, cleanup_list*) {
        return nanobind::make_tuple(std::move(result.*Fields)...).release();
    }
};
template <typename T>
struct type_caster<NewArray<T>> {
    static constexpr auto Name = make_caster<Out<T>>::Name;
    static handle from_cpp(NewArray<T>&& made, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Out<T>>::from_cpp(to_numpy(std::move(made.values), made.size), policy, cleanup);
    }
};
template <typename T>
struct type_caster<NewMatrix<T>> {
    static constexpr auto Name = make_caster<Out2<T>>::Name;
    static handle from_cpp(NewMatrix<T>&& made, rv_policy policy, cleanup_list* cleanup) {
        return make_caster<Out2<T>>::from_cpp(to_numpy(std::move(made.values), made.rows, made.columns), policy, cleanup);
    }
};
template <>
struct type_caster<SparseRows> : result_caster<SparseRows, &SparseRows::offsets, &SparseRows::labels, &SparseRows::scores> {};

}  // namespace nanobind::detail
