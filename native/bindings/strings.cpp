// Binds core/strings.h: interns Python strings, and finds strings and keys in tables.
#include "core/strings.h"

#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/text.h"
#include "core/string_table.h"

namespace {

// Numbers the distinct strings of a buffer in order of first appearance.
std::vector<int32_t> intern_buffer(const StringTable& given, Interner& strings) {
    std::vector<int32_t> ids(given.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = strings.intern(given[i]);
    return ids;
}

// Numbers the strings of a token: a word, or a tuple with a string for each column. False if it is anything else, or if a string
// cannot be encoded.
bool intern_token(PyObject* token, std::vector<Interner>& strings, std::vector<std::vector<int32_t>>& ids) {
    const auto add = [&](size_t column, PyObject* item) {
        const std::string_view text = PyUnicode_CheckExact(item) ? utf8_of(item) : std::string_view();
        if (text.data() == nullptr) return false;
        ids[column].push_back(strings[column].intern(text));
        return true;
    };
    if (strings.size() == 1 && PyUnicode_CheckExact(token)) return add(0, token);
    if (!PyTuple_CheckExact(token) || static_cast<size_t>(PyTuple_Size(token)) != strings.size()) return false;
    for (size_t c = 0; c < strings.size(); ++c)
        if (!add(c, PyTuple_GetItem(token, static_cast<Py_ssize_t>(c)))) return false;
    return true;
}

nb::object intern_sentences(nb::list sentences, size_t n_columns) {
    std::vector<Interner> strings(n_columns);
    std::vector<std::vector<int32_t>> ids(n_columns);
    std::vector<int64_t> offsets{0};
    const nb::ft_object_guard guard(sentences);
    for (Py_ssize_t s = 0; s < PyList_Size(sentences.ptr()); ++s) {
        const nb::object sentence = nb::borrow(PyList_GetItem(sentences.ptr(), s));
        if (!PyList_CheckExact(sentence.ptr())) return nb::none();
        const nb::ft_object_guard inner(sentence);
        const Py_ssize_t n = PyList_Size(sentence.ptr());
        for (Py_ssize_t i = 0; i < n; ++i)
            if (!intern_token(PyList_GetItem(sentence.ptr(), i), strings, ids)) return nb::none();
        offsets.push_back(offsets.back() + static_cast<int64_t>(n));
    }
    nb::list columns;
    for (size_t c = 0; c < n_columns; ++c) {
        nb::tuple table = to_python(strings[c]);
        columns.append(nb::make_tuple(to_numpy(std::move(ids[c])), table[0], table[1]));
    }
    return nb::make_tuple(to_numpy(std::move(offsets)), columns);
}

std::vector<int32_t> match_strings(const StringTable& known, const StringTable& query) {
    Interner strings;
    strings.reserve(known.size());
    for (size_t i = 0; i < known.size(); ++i) strings.intern(known[i]);
    std::vector<int32_t> ids(query.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = strings.find(query[i]);
    return ids;
}

std::vector<int32_t> match_keys(const Array<uint64_t>& known, const Array<uint64_t>& query) {
    KeyInterner keys;
    keys.reserve(known.size());
    for (const uint64_t key : known) keys.intern(key);
    std::vector<int32_t> ids(query.size());
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = keys.find(query[i]);
    return ids;
}

}  // namespace

void bind_strings(nb::module_& m) {
    m.def(
        "release_memory",
        [] {
#if defined(__GLIBC__)
            malloc_trim(0);
#endif
        },
        "Return freed memory to the operating system, where the allocator can.");
    nb::class_<Interner>(m, "StringInterner", "Distinct strings, numbered in order of first appearance.")
        .def(nb::init<>())
        .def("__len__", &Interner::size)
        .def(
            "add",
            [](Interner& self, const In<uint8_t>& data, const In<int64_t>& offsets) {
                const StringTable given{view(data), view(offsets)};
                check_offsets(given.offsets, given.blob.size(), "strings and their offsets disagree");
                return to_numpy(unlocked([&] { return intern_buffer(given, self); }));
            },
            nb::arg("data"), nb::arg("offsets"), "Add the strings of a buffer, and return their ids (int32).")
        .def("table", [](const Interner& self) { return to_python(self); }, "All strings: (blob uint8, offsets int64).");
    m.def(
        "intern_strings",
        [](nb::list items) {
            Interner strings;
            std::vector<int32_t> ids(items.size());
            for (size_t i = 0; i < ids.size(); ++i) {
                const std::string_view item = utf8_of(items[i]);
                if (item.data() == nullptr)
                    throw nb::type_error(
                        ("item " + std::to_string(i) + " is not a string, or cannot be encoded as UTF-8").c_str());
                ids[i] = strings.intern(item);
            }
            nb::tuple table = to_python(strings);
            return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
        },
        nb::arg("items"),
        "Number the distinct strings of a list in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def("intern_sentences", &intern_sentences, nb::arg("sentences"), nb::arg("n_columns"),
          "Number the strings of lists of tokens, which are words or tuples: (offsets of sentences int64, for each column: (ids "
          "int32, blob uint8, offsets int64)). None if a sentence is no list, or a token has another form.");
    m.def(
        "intern_buffer",
        [](const In<uint8_t>& data, const In<int64_t>& offsets) {
            const StringTable given{view(data), view(offsets)};
            check_offsets(given.offsets, given.blob.size(), "strings and their offsets disagree");
            Interner strings;
            std::vector<int32_t> ids = unlocked([&] { return intern_buffer(given, strings); });
            nb::tuple table = to_python(strings);
            return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
        },
        nb::arg("data"), nb::arg("offsets"),
        "Number the distinct strings of a buffer in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def(
        "match_strings",
        [](const In<uint8_t>& known, const In<int64_t>& known_offsets, const In<uint8_t>& query,
           const In<int64_t>& query_offsets) {
            const StringTable table{view(known), view(known_offsets)}, wanted{view(query), view(query_offsets)};
            check_offsets(table.offsets, table.blob.size(), "known strings and their offsets disagree");
            check_offsets(wanted.offsets, wanted.blob.size(), "query strings and their offsets disagree");
            return to_numpy(unlocked([&] { return match_strings(table, wanted); }));
        },
        nb::arg("known"), nb::arg("known_offsets"), nb::arg("query"), nb::arg("query_offsets"),
        "The id of each query string in the table of known (distinct) strings, -1 if it is not there.");
    m.def(
        "gather_bytes",
        [](const In<uint8_t>& blob, const In<int64_t>& starts, const In<int64_t>& lengths) {
            return to_numpy(unlocked([&] { return gather_bytes(view(blob), view(starts), view(lengths)); }));
        },
        nb::arg("blob"), nb::arg("starts"), nb::arg("lengths"),
        "The bytes of a blob from each start on, of each length, one after the other.");
    m.def(
        "match_keys",
        [](const In<uint64_t>& known, const In<uint64_t>& query) {
            return to_numpy(unlocked([&] { return match_keys(view(known), view(query)); }));
        },
        nb::arg("known"), nb::arg("query"), "The position of each query key among the known (distinct) keys, or -1.");
}
