// UTF-8 views of Python text.
#pragma once
#include <nanobind/nanobind.h>

#include <string_view>

// The UTF-8 bytes of a string. The view's data is null if the object is not a string or cannot be encoded.
inline std::string_view utf8_of(nanobind::handle item) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_Check(item.ptr()) ? PyUnicode_AsUTF8AndSize(item.ptr(), &size) : nullptr;
    if (data == nullptr) PyErr_Clear();
    return {data, static_cast<size_t>(size)};
}

inline std::string_view text_of(const nanobind::bytes& data) { return {static_cast<const char*>(data.data()), data.size()}; }

inline std::string_view text_of(const nanobind::str& text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nanobind::python_error();
    return {data, static_cast<size_t>(size)};
}
