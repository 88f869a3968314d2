// Interning Python strings: list[str] -> ids and one table of distinct strings.
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/strings.h"

namespace {

std::string_view utf8_of(nb::handle item, size_t index) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_Check(item.ptr()) ? PyUnicode_AsUTF8AndSize(item.ptr(), &size) : nullptr;
    if (data == nullptr) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "item %zu is not a string that UTF-8 can hold", index);
        throw nb::python_error();
    }
    return {data, static_cast<size_t>(size)};
}

nb::tuple table_of(const Interner& strings) {
    std::vector<uint8_t> blob(strings.blob().begin(), strings.blob().end());
    std::vector<int64_t> offsets(strings.offsets());
    return nb::make_tuple(to_numpy(std::move(blob)), to_numpy(std::move(offsets)));
}

}  // namespace

void bind_intern(nb::module_& m) {
    m.def(
        "intern_strings",
        [](nb::list items) {
            Interner strings;
            std::vector<int32_t> ids(items.size());
            for (size_t i = 0; i < ids.size(); ++i) ids[i] = strings.intern(utf8_of(items[i], i));
            nb::tuple table = table_of(strings);
            return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
        },
        nb::arg("items"),
        "Number the distinct strings of a list in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def(
        "match_strings",
        [](In<uint8_t> known, In<int64_t> known_offsets, In<uint8_t> query, In<int64_t> query_offsets) {
            check_offsets(known_offsets, known.shape(0), "known strings do not fit their offsets");
            check_offsets(query_offsets, query.shape(0), "query strings do not fit their offsets");
            const auto* blob = reinterpret_cast<const char*>(known.data());
            const auto* wanted = reinterpret_cast<const char*>(query.data());
            const size_t n = query_offsets.shape(0) - 1;
            std::vector<int32_t> ids(n);
            {
                nb::gil_scoped_release release;
                Interner strings;
                const size_t m = known_offsets.shape(0) - 1;
                strings.reserve(m);
                for (size_t i = 0; i < m; ++i)
                    strings.intern({blob + known_offsets(i), static_cast<size_t>(known_offsets(i + 1) - known_offsets(i))});
                for (size_t i = 0; i < n; ++i)
                    ids[i] = strings.find(
                        {wanted + query_offsets(i), static_cast<size_t>(query_offsets(i + 1) - query_offsets(i))});
            }
            return to_numpy(std::move(ids));
        },
        nb::arg("known"), nb::arg("known_offsets"), nb::arg("query"), nb::arg("query_offsets"),
        "Ids in the known (distinct) table of each string of the query table, -1 where it is not there.");
}
