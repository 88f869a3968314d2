// Binds core/: strings, rows and long vectors.

#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bindings/bindings.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "core/cholesky.h"
#include "core/long_vectors.h"
#include "core/sparse_rows.h"
#include "core/string_table.h"

namespace {

// Numbers the strings of a token: a word, or a tuple with a string for each column. False if it is anything else, or if a string
// cannot be encoded.
bool intern_token(nb::handle token, std::vector<Interner>& strings, std::vector<std::vector<int32_t>>& ids) {
    size_t column = 0;
    const auto add = [&](nb::handle item) {
        const std::string_view text = PyUnicode_CheckExact(item.ptr()) ? utf8_of(item) : std::string_view();
        if (text.data() == nullptr) return false;
        ids[column].push_back(strings[column].intern(text));
        ++column;
        return true;
    };
    if (strings.size() == 1 && PyUnicode_CheckExact(token.ptr())) return add(token);
    return PyTuple_CheckExact(token.ptr()) && static_cast<size_t>(PyTuple_Size(token.ptr())) == strings.size() &&
           each_of(token, add);
}

nb::object intern_sentences(nb::list sentences, size_t n_columns) {
    std::vector<Interner> strings(n_columns);
    std::vector<std::vector<int32_t>> ids(n_columns);
    std::vector<int64_t> offsets{0};
    const bool fits = each_of(sentences, [&](nb::handle sentence) {
        if (!PyList_CheckExact(sentence.ptr())) return false;
        offsets.push_back(offsets.back());
        return each_of(sentence, [&](nb::handle token) {
            ++offsets.back();
            return intern_token(token, strings, ids);
        });
    });
    if (!fits) return nb::none();
    const auto column = [&](size_t c) { return with_table(std::move(ids[c]), strings[c]); };
    return nb::make_tuple(to_numpy(std::move(offsets)), list_of(n_columns, column));
}

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
            "add", [](Interner& self, const StringTable& strings) { return intern_buffer(strings, self); }, "strings"_a,
            without_lock, "Add the strings of a table (blob, offsets), and return their ids (int32).")
        .def("table", [](const Interner& self) { return to_python(self); }, "All strings: (blob uint8, offsets int64).");
    m.def(
        "intern_strings",
        [](nb::list items) {
            Interner strings;
            std::vector<int32_t> ids;
            each_of(items, [&](nb::handle item) {
                const std::string_view text = utf8_of(item);
                if (text.data() == nullptr)
                    throw nb::type_error(
                        ("item " + std::to_string(ids.size()) + " is not a string, or cannot be encoded as UTF-8").c_str());
                ids.push_back(strings.intern(text));
                return true;
            });
            return with_table(std::move(ids), strings);
        },
        "items"_a, "Number the distinct strings of a list in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def("intern_sentences", &intern_sentences, "sentences"_a, "n_columns"_a,
          "Number the strings of lists of tokens, which are words or tuples: (offsets of sentences int64, for each column: (ids "
          "int32, blob uint8, offsets int64)). None if a sentence is no list, or a token has another form.");
    m.def(
        "intern_buffer",
        [](const StringTable& given) {
            Interner strings;
            std::vector<int32_t> ids = unlocked([&] { return intern_buffer(given, strings); });
            return with_table(std::move(ids), strings);
        },
        "strings"_a,
        "Number the distinct strings of a table in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def("match_strings", &match_strings, "known"_a, "query"_a, without_lock,
          "The id of each query string in the table of known (distinct) strings, -1 if it is not there.");
    m.def("gather_bytes", &gather_bytes, "blob"_a, "starts"_a, "lengths"_a, without_lock,
          "The bytes of a blob from each start on, of each length, one after the other.");
    m.def("match_keys", &match_keys, "known"_a, "query"_a, without_lock,
          "The position of each query key among the known (distinct) keys, or -1.");
}

void bind_rows(nb::module_& m) {
    m.def("add_sparse_rows", static_cast<SparseRows (*)(const LabelScores&, const LabelScores&)>(&add_rows), "a"_a, "b"_a,
          without_lock, "The row-wise sum of two sets of rows. A label in only one of them keeps its score.");
    m.def("find_in_rows", &find_in_rows, "offsets"_a, "labels"_a, "wanted"_a, without_lock,
          "The position of the wanted label of each row, -1 if the row does not contain it.");
    m.def("seen_labels", &seen_labels, "slots"_a, "features"_a, "n_labels"_a, without_lock,
          "The labels that some feature of each token was seen with, in ascending order; all labels for a token without such "
          "features. Features without a row of slots are left out.");
    m.def(
        "with_part_columns", [](const Csr& rows, const PartArrays& parts) { return parts_of(parts).with_columns(rows); },
        "rows"_a, "parts"_a, without_lock, "Rows of labels, with a column K + p for each part p that a label of the row has.");
}

void bind_long_vectors(nb::module_& m) {
    m.def("dot", &inner_product, "a"_a, "b"_a, without_lock, "The inner product of two vectors.");
    m.def("inner_products", &inner_products, "rows"_a, "v"_a, "own"_a = std::vector<size_t>(), without_lock,
          "Inner products of each row with `v`, then with each row whose index is in `own`.");
    m.def("combination", &combination, "rows"_a, "shares"_a, "v"_a, "own"_a, without_lock,
          "own * v plus the sum of shares[r] * rows[r].");
    m.def("solve_positive_definite", &solve_positive_definite, "a"_a, "b"_a, without_lock,
          "The solution of a x = b; None if the upper triangle of a is not positive definite.");
    m.def("exp", &each_exp, "x"_a, without_lock, "e to the power of each number, at most 709; 0 below -708.");
    m.def("log", &each_log, "x"_a, without_lock, "The logarithm of each number.");
    m.def("log1p", &each_log1p, "x"_a, without_lock, "The logarithm of 1 plus each number.");
}

}  // namespace

void bind_core(nb::module_& m) {
    bind_strings(m);
    bind_rows(m);
    bind_long_vectors(m);
}
