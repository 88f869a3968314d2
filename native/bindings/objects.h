// Python objects: text, lists and their elements.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string_view>

namespace nb = nanobind;

// The UTF-8 bytes of a string. The view's data is null if the object is not a string or cannot be encoded.
inline std::string_view utf8_of(nb::handle item) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_Check(item.ptr()) ? PyUnicode_AsUTF8AndSize(item.ptr(), &size) : nullptr;
    if (data == nullptr) PyErr_Clear();
    return {data, static_cast<size_t>(size)};
}

inline std::string_view text_of(const nb::bytes& data) { return {static_cast<const char*>(data.data()), data.size()}; }

inline std::string_view text_of(const nb::str& text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
}

// An element of a list. With the interpreter lock, it stays until Python code runs; without the lock, it needs a reference.
#ifdef Py_GIL_DISABLED
constexpr bool kHasLock = false;
using Element = nb::object;
#else
constexpr bool kHasLock = true;
using Element = nb::handle;
#endif

inline Element element_of(nb::handle list, bool is_list, Py_ssize_t i) {
    const nb::ft_object_guard guard(list);  // without an interpreter lock, another thread could change the list
    const nb::handle found = is_list ? PyList_GetItem(list.ptr(), i) : PyTuple_GetItem(list.ptr(), i);
    if constexpr (kHasLock)
        return found;
    else
        return nb::borrow(found);
}

// Calls use(element) for the elements of a list or tuple until one of the calls returns false. Returns whether none did. The list
// may change meanwhile.
template <typename Use>
bool each_of(nb::handle list, Use use) {
    const bool is_list = PyList_Check(list.ptr());
    for (Py_ssize_t i = 0; i < (is_list ? PyList_Size(list.ptr()) : PyTuple_Size(list.ptr())); ++i) {
        if (!use(element_of(list, is_list, i))) return false;
    }
    return true;
}

// A list of make(i) for i below n.
template <typename Make>
nb::object list_of(size_t n, Make make) {
    nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(n)));
    if (!out.is_valid()) throw nb::python_error();
    for (size_t i = 0; i < n; ++i)  // the list takes over a reference
        PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(make(i)).release().ptr());
    return out;
}

// The labels with these ids.
template <typename Names>
nb::object named_labels(const Names& names, const int32_t* ids, size_t n) {
    return list_of(n, [&](size_t i) { return nb::object(names[static_cast<size_t>(ids[i])]); });
}
