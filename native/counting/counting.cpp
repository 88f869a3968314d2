// Counting: how often each label was seen in each context, and how often each label followed another.
//
//     n(c, y) = #{t : context_t = c, label_t = y}           a sparse table, one row a context
//     n(y, y') = #{i : label_i = y, label_i+1 = y'}         with a boundary symbol before and after each sentence
//
// Both are sums over tokens, so the counts of two corpora add up to the counts of both together.
#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/parallel.h"
#include "core/strings.h"

namespace {

struct Table {
    std::vector<int64_t> offsets;
    std::vector<int32_t> labels;
    std::vector<int32_t> counts;
};

// Whether one counter for every context and label is quicker than sorting the tokens: they stay in the nearest caches.
bool few_counters(size_t n_contexts, size_t n_labels) { return n_contexts * n_labels <= 1 << 15; }

// A counter for each context and label.
Table count_densely(const int32_t* contexts, const int32_t* labels, size_t n, size_t n_contexts, size_t n_labels) {
    std::vector<int32_t> tally(n_contexts * n_labels, 0);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0) ++tally[static_cast<size_t>(contexts[t]) * n_labels + static_cast<size_t>(labels[t])];
    Table table;
    table.offsets.assign(n_contexts + 1, 0);
    for (size_t c = 0; c < n_contexts; ++c) {
        for (size_t y = 0; y < n_labels; ++y)
            if (tally[c * n_labels + y] > 0) {
                table.labels.push_back(static_cast<int32_t>(y));
                table.counts.push_back(tally[c * n_labels + y]);
            }
        table.offsets[c + 1] = static_cast<int64_t>(table.labels.size());
    }
    return table;
}

// Bucket the tokens by context, then tally each bucket on a scratch row of K counters.
Table count_table(const int32_t* contexts, const int32_t* labels, size_t n, size_t n_contexts, size_t n_labels) {
    if (few_counters(n_contexts, n_labels)) return count_densely(contexts, labels, n, n_contexts, n_labels);
    std::vector<int64_t> start(n_contexts + 1, 0);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0) ++start[contexts[t] + 1];
    for (size_t c = 0; c < n_contexts; ++c) start[c + 1] += start[c];
    std::vector<int32_t> bucketed(start[n_contexts]);
    std::vector<int64_t> cursor(start.begin(), start.end() - 1);
    for (size_t t = 0; t < n; ++t)
        if (contexts[t] >= 0 && labels[t] >= 0) bucketed[cursor[contexts[t]]++] = labels[t];

    Table table;
    table.offsets.assign(n_contexts + 1, 0);
    table.labels.reserve(bucketed.size());
    table.counts.reserve(bucketed.size());
    std::vector<int32_t> tally(n_labels, 0), touched;
    for (size_t c = 0; c < n_contexts; ++c) {
        const int64_t a = start[c], b = start[c + 1];
        if (b - a == 1) {
            table.labels.push_back(bucketed[a]);
            table.counts.push_back(1);
        } else if (b > a) {
            touched.clear();
            for (int64_t i = a; i < b; ++i)
                if (tally[bucketed[i]]++ == 0) touched.push_back(bucketed[i]);
            std::sort(touched.begin(), touched.end());
            for (const int32_t y : touched) {
                table.labels.push_back(y);
                table.counts.push_back(tally[y]);
                tally[y] = 0;
            }
        }
        table.offsets[c + 1] = static_cast<int64_t>(table.labels.size());
    }
    return table;
}

void check_contexts(const int32_t* contexts, size_t n, size_t n_contexts) {
    int32_t top = -1;
    for (size_t t = 0; t < n; ++t) top = std::max(top, contexts[t]);
    if (top >= 0 && static_cast<size_t>(top) >= n_contexts) throw nb::value_error("context id out of range");
}

void check_labels(In<int32_t> labels, size_t n_labels) {
    for (size_t t = 0; t < labels.shape(0); ++t)
        if (labels(t) >= 0 && static_cast<size_t>(labels(t)) >= n_labels) throw nb::value_error("label id out of range");
}

// Tables one below the other.
Table joined(const std::vector<Table>& parts) {
    size_t rows = 0, entries = 0;
    for (const Table& part : parts) {
        rows += part.offsets.size() - 1;
        entries += part.labels.size();
    }
    Table all;
    all.offsets.reserve(rows + 1);
    all.labels.reserve(entries);
    all.counts.reserve(entries);
    all.offsets.push_back(0);
    for (const Table& part : parts) {
        const auto start = static_cast<int64_t>(all.labels.size());
        for (size_t c = 1; c < part.offsets.size(); ++c) all.offsets.push_back(start + part.offsets[c]);
        all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
    }
    return all;
}

nb::tuple to_python(Table&& table) {
    return nb::make_tuple(to_numpy(std::move(table.offsets)), to_numpy(std::move(table.labels)), to_numpy(std::move(table.counts)));
}

}  // namespace

void bind_counting(nb::module_& m) {
    m.def(
        "count_table",
        [](In<int32_t> contexts, In<int32_t> labels, size_t n_contexts, size_t n_labels) {
            const size_t n = contexts.shape(0);
            if (labels.shape(0) != n) throw nb::value_error("as many labels as contexts are needed");
            Table table;
            {
                nb::gil_scoped_release release;
                check_contexts(contexts.data(), n, n_contexts);
                check_labels(labels, n_labels);
                table = count_table(contexts.data(), labels.data(), n, n_contexts, n_labels);
            }
            return to_python(std::move(table));
        },
        nb::arg("contexts"), nb::arg("labels"), nb::arg("n_contexts"), nb::arg("n_labels"),
        "Label counts of each context: CSR offsets, labels in rising order, counts. Contexts and labels below 0 are skipped.");
    m.def(
        "count_tables",
        [](In2<int32_t> contexts, In<int32_t> labels, In<int64_t> sizes, size_t n_labels, size_t threads) {
            const size_t kinds = contexts.shape(0), n = contexts.shape(1), parts = useful_threads(threads, kinds);
            if (labels.shape(0) != n || sizes.shape(0) != kinds)
                throw nb::value_error("as many labels as contexts are needed, and a size for each kind");
            check_labels(labels, n_labels);
            Table table;
            {
                nb::gil_scoped_release release;
                std::vector<Table> tables(kinds);
                in_parallel(parts, [&](size_t part) {
                    for (size_t i = part; i < kinds; i += parts) {
                        const int32_t* row = contexts.data() + i * n;
                        const auto size = static_cast<size_t>(sizes.data()[i]);
                        check_contexts(row, n, size);
                        tables[i] = count_table(row, labels.data(), n, size, n_labels);
                    }
                });
                table = joined(tables);
            }
            return to_python(std::move(table));
        },
        nb::arg("contexts"), nb::arg("labels"), nb::arg("sizes"), nb::arg("n_labels"), nb::arg("threads") = 1,
        "The tables of several kinds of contexts, (kinds, n), one below the other; kind i has so many rows as sizes says.");
    m.def(
        "occurrences",
        [](In<int32_t> ids, size_t n) {
            std::vector<int64_t> counts(n, 0);
            {
                nb::gil_scoped_release release;
                for (size_t i = 0; i < ids.shape(0); ++i) {
                    const auto id = static_cast<size_t>(ids(i));
                    if (ids(i) < 0 || id >= n) throw nb::value_error("id out of range");
                    ++counts[id];
                }
            }
            return to_numpy(std::move(counts));
        },
        nb::arg("ids"), nb::arg("n"), "How often each id below n occurs.");
    m.def(
        "adjust_table",
        [](In<int64_t> offsets, In<int32_t> labels, InOut<int32_t> counts, In<int32_t> token_contexts,
           In<int32_t> token_labels, int32_t change) {
            if (labels.shape(0) != counts.shape(0) || token_contexts.shape(0) != token_labels.shape(0))
                throw nb::value_error("as many counts as labels, and labels as contexts, are needed");
            check_offsets(offsets, labels.shape(0), "table offsets and labels disagree");
            nb::gil_scoped_release release;
            for (size_t t = 0; t < token_contexts.shape(0); ++t) {
                const int32_t c = token_contexts(t);
                if (c < 0) continue;
                if (static_cast<size_t>(c) + 1 >= offsets.shape(0)) throw nb::value_error("context id out of range");
                const int32_t* first = labels.data() + offsets(c);
                const int32_t* last = labels.data() + offsets(c + 1);
                const int32_t* found = std::lower_bound(first, last, token_labels(t));
                if (found == last || *found != token_labels(t)) throw nb::value_error("a token that was never counted");
                counts.data()[found - labels.data()] += change;
            }
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("counts"), nb::arg("token_contexts"), nb::arg("token_labels"),
        nb::arg("change"), "Add `change` to the count of each given token's (context, label), in place.");
    m.def(
        "count_pairs",
        [](In<int32_t> labels, In<int64_t> offsets, size_t n_labels) {
            check_offsets(offsets, labels.shape(0), "sentence offsets and labels disagree");
            std::vector<int32_t> from, to;
            std::vector<int64_t> counts;
            {
                nb::gil_scoped_release release;
                for (size_t t = 0; t < labels.shape(0); ++t)
                    if (labels(t) >= 0 && static_cast<size_t>(labels(t)) >= n_labels) throw nb::value_error("label id out of range");
                KeyInterner pairs;
                std::vector<int64_t> seen;
                const auto boundary = static_cast<int64_t>(n_labels);
                auto add = [&](int64_t left, int64_t right) {
                    if (left < 0 || right < 0) return;  // a label that is not known makes no pair
                    const auto a = static_cast<uint64_t>(left), b = static_cast<uint64_t>(right);
                    const int32_t id = pairs.intern(a << 32 | b);
                    if (static_cast<size_t>(id) == seen.size()) seen.push_back(0);
                    ++seen[id];
                };
                for (size_t s = 0; s + 1 < offsets.shape(0); ++s) {
                    int64_t previous = boundary;
                    for (int64_t i = offsets(s); i < offsets(s + 1); ++i) {
                        add(previous, labels(i));
                        previous = labels(i);
                    }
                    if (offsets(s + 1) > offsets(s)) add(previous, boundary);
                }
                std::vector<int32_t> order(pairs.size());
                for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
                std::sort(order.begin(), order.end(),
                          [&](int32_t a, int32_t b) { return pairs.keys()[a] < pairs.keys()[b]; });
                for (const int32_t i : order) {
                    from.push_back(static_cast<int32_t>(pairs.keys()[i] >> 32));
                    to.push_back(static_cast<int32_t>(pairs.keys()[i] & 0xffffffffu));
                    counts.push_back(seen[i]);
                }
            }
            return nb::make_tuple(to_numpy(std::move(from)), to_numpy(std::move(to)), to_numpy(std::move(counts)));
        },
        nb::arg("labels"), nb::arg("offsets"), nb::arg("n_labels"),
        "How often label `to` followed label `from`; the id n_labels stands for the sentence boundary, ids below 0 for labels "
        "that are not known, which make no pair. Sorted.");
}
