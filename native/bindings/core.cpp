// Binds core/: strings, rows and long vectors.

#include <algorithm>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bindings/bindings.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "core/cholesky.h"
#include "core/logarithms.h"
#include "core/long_vectors.h"
#include "core/sparse_rows.h"
#include "core/string_table.h"
#include "core/vectors.h"

namespace {

// A function of each number of a vector.
template <typename Function>
Out<double> each(const In<double>& x, Function function) {
    const size_t n = x.shape(0);
    std::unique_ptr<double[]> out(new double[n]);
    unlocked([&] { function(x.data(), out.get(), n); });
    return to_numpy(std::move(out), n);
}

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
    const auto column = [&](size_t c) {
        const nb::tuple table = to_python(strings[c]);
        return nb::make_tuple(to_numpy(std::move(ids[c])), table[0], table[1]);
    };
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
            "add",
            [](Interner& self, const In<uint8_t>& data, const In<int64_t>& offsets) {
                const StringTable given = strings_of(data, offsets);
                return to_numpy(unlocked([&] { return intern_buffer(given, self); }));
            },
            "data"_a, "offsets"_a, "Add the strings of a buffer, and return their ids (int32).")
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
            nb::tuple table = to_python(strings);
            return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
        },
        "items"_a, "Number the distinct strings of a list in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def("intern_sentences", &intern_sentences, "sentences"_a, "n_columns"_a,
          "Number the strings of lists of tokens, which are words or tuples: (offsets of sentences int64, for each column: (ids "
          "int32, blob uint8, offsets int64)). None if a sentence is no list, or a token has another form.");
    m.def(
        "intern_buffer",
        [](const In<uint8_t>& data, const In<int64_t>& offsets) {
            const StringTable given = strings_of(data, offsets);
            Interner strings;
            std::vector<int32_t> ids = unlocked([&] { return intern_buffer(given, strings); });
            nb::tuple table = to_python(strings);
            return nb::make_tuple(to_numpy(std::move(ids)), table[0], table[1]);
        },
        "data"_a, "offsets"_a,
        "Number the distinct strings of a buffer in order of first appearance: (ids int32, blob uint8, offsets int64).");
    m.def(
        "match_strings",
        [](const In<uint8_t>& known, const In<int64_t>& known_offsets, const In<uint8_t>& query,
           const In<int64_t>& query_offsets) {
            const StringTable table = strings_of(known, known_offsets, "known strings and their offsets disagree");
            const StringTable wanted = strings_of(query, query_offsets, "query strings and their offsets disagree");
            return to_numpy(unlocked([&] { return match_strings(table, wanted); }));
        },
        "known"_a, "known_offsets"_a, "query"_a, "query_offsets"_a,
        "The id of each query string in the table of known (distinct) strings, -1 if it is not there.");
    m.def(
        "gather_bytes",
        [](const In<uint8_t>& blob, const In<int64_t>& starts, const In<int64_t>& lengths) {
            return to_numpy(unlocked([&] { return gather_bytes(view(blob), view(starts), view(lengths)); }));
        },
        "blob"_a, "starts"_a, "lengths"_a, "The bytes of a blob from each start on, of each length, one after the other.");
    m.def(
        "match_keys",
        [](const In<uint64_t>& known, const In<uint64_t>& query) {
            return to_numpy(unlocked([&] { return match_keys(view(known), view(query)); }));
        },
        "known"_a, "query"_a, "The position of each query key among the known (distinct) keys, or -1.");
}

void bind_rows(nb::module_& m) {
    m.def(
        "add_sparse_rows",
        [](const LabelScoreArrays& first, const LabelScoreArrays& second) {
            const LabelScores a = view(first), b = view(second);
            check_rows(a);
            check_rows(b);
            if (a.offsets.size() != b.offsets.size()) throw nb::value_error("the two sets of rows disagree in number");
            SparseRows sum = unlocked([&] { return add_rows(a, b); });
            return to_tuple(std::move(sum));
        },
        "a"_a, "b"_a, "The row-wise sum of two sets of rows. A label in only one of them keeps its score.");
    m.def(
        "find_in_rows",
        [](const In<int64_t>& offsets, const In<int32_t>& labels, const In<int32_t>& wanted) {
            const Csr rows{view(offsets), view(labels)};
            check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
            if (rows.rows() != wanted.shape(0)) throw nb::value_error("wanted labels and rows disagree in number");
            return to_numpy(unlocked([&] { return find_in_rows(rows, view(wanted)); }));
        },
        "offsets"_a, "labels"_a, "wanted"_a, "The position of the wanted label of each row, -1 if the row does not contain it.");
    m.def(
        "seen_labels",
        [](const CsrArrays& slot_arrays, const CsrArrays& feature_arrays, size_t n_labels) {
            const Csr slots = view(slot_arrays), features = view(feature_arrays);
            check_offsets(slots.offsets, slots.ids.size(), "slot offsets and labels disagree");
            check_offsets(features.offsets, features.ids.size(), "feature offsets and ids disagree");
            check_labels(slots.ids, n_labels);
            auto found = unlocked([&] { return seen_labels(slots, features, n_labels); });
            return to_tuple(std::move(found.first), std::move(found.second));
        },
        "slots"_a, "features"_a, "n_labels"_a,
        "The labels that some feature of each token was seen with, in ascending order; all labels for a token without such "
        "features. Features without a row of slots are left out.");
    m.def(
        "with_part_columns",
        [](const CsrArrays& arrays, const PartArrays& given) {
            const Csr rows = view(arrays);
            const LabelParts parts = parts_of(given);
            check_offsets(rows.offsets, rows.ids.size(), "row offsets and labels disagree");
            check_labels(rows.ids, parts.n_labels());
            auto found = unlocked([&] { return parts.with_columns(rows); });
            return to_tuple(std::move(found.first), std::move(found.second));
        },
        "rows"_a, "parts"_a, "Rows of labels, with a column K + p for each part p that a label of the row has.");
}

void bind_long_vectors(nb::module_& m) {
    m.def(
        "dot",
        [](const In<double>& a, const In<double>& b) {
            if (a.shape(0) != b.shape(0)) throw nb::value_error("vectors differ in length");
            return unlocked([&] { return dot(a.data(), b.data(), a.shape(0)); });
        },
        "a"_a, "b"_a, "The inner product of two vectors.");
    m.def(
        "inner_products",
        [](const In2<double>& rows, const In<double>& v, const std::vector<size_t>& own) {
            if (rows.shape(1) != v.shape(0)) throw nb::value_error("vectors differ in length");
            const Matrix<double> matrix = view(rows);
            std::vector<double> out = unlocked([&] { return inner_products(matrix, v.data(), own); });
            return to_numpy(std::move(out), own.size() + 1, matrix.rows());
        },
        "rows"_a, "v"_a, "own"_a = std::vector<size_t>(),
        "Inner products of each row with `v`, then with each row whose index is in `own`.");
    m.def(
        "combination",
        [](const In2<double>& rows, const In<double>& shares, const In<double>& v, double own) {
            const size_t n = v.shape(0);
            if (rows.shape(1) != n || shares.shape(0) != rows.shape(0)) throw nb::value_error("vectors differ in length");
            std::unique_ptr<double[]> out(new double[n]);
            unlocked([&] { combination(view(rows), shares.data(), v.data(), own, out.get()); });
            return to_numpy(std::move(out), n);
        },
        "rows"_a, "shares"_a, "v"_a, "own"_a, "own * v plus the sum of shares[r] * rows[r].");
    m.def(
        "solve_positive_definite",
        [](const In2<double>& a, const In<double>& b) -> std::optional<Out<double>> {
            if (a.shape(0) != a.shape(1) || a.shape(0) != b.shape(0)) throw nb::value_error("matrix and vector differ in size");
            std::vector<double> x = unlocked([&] { return solve_positive_definite(view(a), view(b)); });
            if (x.size() != b.shape(0)) return std::nullopt;
            return to_numpy(std::move(x));
        },
        "a"_a, "b"_a, "The solution of a x = b; None if the upper triangle of a is not positive definite.");
    m.def(
        "exp",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) {
                std::copy_n(from, n, to);
                exponentiate(to, n);
            });
        },
        "x"_a, "e to the power of each number, at most 709; 0 below -708.");
    m.def(
        "log",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) { std::transform(from, from + n, to, portable_log); });
        },
        "x"_a, "The logarithm of each number.");
    m.def(
        "log1p",
        [](const In<double>& x) {
            return each(x, [](const double* from, double* to, size_t n) { std::transform(from, from + n, to, portable_log1p); });
        },
        "x"_a, "The logarithm of 1 plus each number.");
}

}  // namespace

void bind_core(nb::module_& m) {
    bind_strings(m);
    bind_rows(m);
    bind_long_vectors(m);
}
