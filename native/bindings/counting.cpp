// Binds counting/counting.h.
#include "counting/counting.h"

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "counting/entries.h"

namespace {

nb::tuple to_python(CountTable&& table) {
    return to_tuple(std::move(table.offsets), std::move(table.labels), std::move(table.counts));
}

// Entries as an array of (n, 3) uint64.
Out2<uint64_t> to_python(std::vector<Entry>&& entries) {
    auto* held = new std::vector<Entry>(std::move(entries));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<Entry>*>(p); });
    return Out2<uint64_t>(reinterpret_cast<uint64_t*>(held->data()), {held->size(), 3}, owner);
}

}  // namespace

void bind_counting(nb::module_& m) {
    m.def(
        "count_table",
        [](const In<int32_t>& contexts, const In<int32_t>& labels, size_t n_contexts, size_t n_labels) {
            if (labels.shape(0) != contexts.shape(0)) throw nb::value_error("labels and contexts disagree in number");
            return to_python(unlocked([&] { return count_table(contexts.data(), view(labels), n_contexts, n_labels); }));
        },
        nb::arg("contexts"), nb::arg("labels"), nb::arg("n_contexts"), nb::arg("n_labels"),
        "Label counts of each context: CSR offsets, labels in ascending order, counts. Negative contexts and labels are "
        "skipped.");
    m.def(
        "count_tables",
        [](const In2<int32_t>& contexts, const In<int32_t>& labels, const In<int64_t>& sizes, size_t n_labels, size_t threads) {
            if (labels.shape(0) != contexts.shape(1) || sizes.shape(0) != contexts.shape(0))
                throw nb::value_error("contexts disagree with the number of labels or of sizes");
            return to_python(
                unlocked([&] { return count_tables(view(contexts), view(labels), view(sizes), n_labels, threads); }));
        },
        nb::arg("contexts"), nb::arg("labels"), nb::arg("sizes"), nb::arg("n_labels"), nb::arg("threads") = 1,
        "The stacked tables of several kinds of contexts, (kinds, n). Kind i has sizes[i] rows.");
    m.def(
        "occurrences",
        [](const In<int32_t>& ids, size_t n) { return to_numpy(unlocked([&] { return occurrences(view(ids), n); })); },
        nb::arg("ids"), nb::arg("n"), "The number of occurrences of each id below n.");
    m.def(
        "adjust_table",
        [](const In<int64_t>& offsets, const In<int32_t>& labels, const InOut<int64_t>& counts, const In<int32_t>& token_contexts,
           const In<int32_t>& token_labels, int64_t change) {
            if (labels.shape(0) != counts.shape(0) || token_contexts.shape(0) != token_labels.shape(0))
                throw nb::value_error("counts and labels, or labels and contexts, disagree in number");
            const Csr table{view(offsets), view(labels)};
            check_offsets(table.offsets, table.ids.size(), "table offsets and labels disagree");
            unlocked([&] { adjust_table(table, writable(counts), view(token_contexts), view(token_labels), change); });
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("counts"), nb::arg("token_contexts"), nb::arg("token_labels"),
        nb::arg("change"), "Add `change` to the count of each token's (context, label), in place.");
    m.def(
        "count_entries",
        [](const In<uint64_t>& keys, const In<int32_t>& labels, uint64_t first, int bits) {
            GroupedEntries found = unlocked([&] { return count_entries(view(keys), view(labels), first, bits); });
            return nb::make_tuple(to_python(std::move(found.entries)), to_numpy(std::move(found.sizes)));
        },
        nb::arg("keys"), nb::arg("labels"), nb::arg("first"), nb::arg("bits"),
        "Count the keys and labels of tokens: (entries as (n, 3) uint64: key, first place, label << 40 | count; the number of "
        "entries of each group of keys). Negative labels are skipped.");
    m.def(
        "merge_entries",
        [](const In2<uint64_t>& entries, bool by_place) {
            if (entries.shape(1) != 3) throw nb::value_error("an entry has three numbers");
            const auto* begin = reinterpret_cast<const Entry*>(entries.data());
            return to_python(
                unlocked([&] { return merge_entries(std::vector<Entry>(begin, begin + entries.shape(0)), by_place); }));
        },
        nb::arg("entries"), nb::arg("by_place"),
        "Add up entries of the same key and label. They are sorted by key and label, or by first place and label.");
    m.def(
        "count_pairs",
        [](const In<int32_t>& labels, const In<int64_t>& offsets, size_t n_labels) {
            check_offsets(view(offsets), labels.shape(0), "sentence offsets and labels disagree");
            PairCounts pairs = unlocked([&] { return count_pairs(view(labels), view(offsets), n_labels); });
            return to_tuple(std::move(pairs.from), std::move(pairs.to), std::move(pairs.counts));
        },
        nb::arg("labels"), nb::arg("offsets"), nb::arg("n_labels"),
        "How often label `to` follows label `from`, sorted. Id n_labels is the sentence boundary. A negative id is an unknown "
        "label, which forms no pair.");
}
