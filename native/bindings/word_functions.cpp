// Binds features/word_functions.h and features/lookup.h.
#include "features/word_functions.h"

#include <nanobind/stl/string.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/lookup.h"
#include "features/lookup.h"

void bind_word_functions(nb::module_& m) {
    nb::class_<LookupHandle>(m, "Lookup", "A table of words and their values, built once and shared.")
        .def(
            "__init__",
            [](LookupHandle* self, const In<uint8_t>& keys, const In<int64_t>& key_offsets, const In<int32_t>& values,
               const In<uint8_t>& classes, const In<int64_t>& class_offsets, bool related) {
                new (self) LookupHandle{
                    make_lookup({view(keys), view(key_offsets)}, view(values), {view(classes), view(class_offsets)}, related)};
            },
            nb::arg("keys"), nb::arg("key_offsets"), nb::arg("values"), nb::arg("classes"), nb::arg("class_offsets"),
            nb::arg("related") = false);
    m.def(
        "apply_function",
        [](int32_t kind, int32_t number, std::string text, const In<uint8_t>& blob, const In<int64_t>& offsets,
           const LookupHandle* table) {
            const WordFunction f = word_function(kind, number, std::move(text), table);
            const StringTable words{view(blob), view(offsets)};
            check_table(words, "words");
            Interner values;
            std::vector<int32_t> ids = unlocked([&] { return apply_to_all(f, words, values); });
            const nb::tuple strings = to_python(values);
            return nb::make_tuple(to_numpy(std::move(ids)), strings[0], strings[1]);
        },
        nb::arg("kind"), nb::arg("number"), nb::arg("text"), nb::arg("blob"), nb::arg("offsets"),
        nb::arg("table").none() = nb::none(),
        "Values of a word function for a table of words: (ids int32, -1 if there is no value; blob, offsets).");
}
