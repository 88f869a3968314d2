// Binds clustering/exchange.h.
#include "clustering/exchange.h"

#include "bindings/bindings.h"
#include "bindings/views.h"

namespace {

using NeighbourTuple = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>>;  // offsets, words, counts

NeighbourArrays neighbours(const NeighbourTuple& side) {
    return {view(std::get<0>(side)), view(std::get<1>(side)), view(std::get<2>(side))};
}

nb::tuple to_python(Neighbours&& side) {
    return to_tuple(std::move(side.offsets), std::move(side.words), std::move(side.counts));
}

}  // namespace

void bind_clustering(nb::module_& m) {
    m.def(
        "count_neighbours",
        [](const In<int32_t>& words, const In<int64_t>& sentences, size_t n_words) {
            check_offsets(view(sentences), words.shape(0), "sentence offsets and words disagree");
            WordNeighbours pairs = unlocked([&] { return count_neighbours(view(words), view(sentences), n_words); });
            return nb::make_tuple(to_python(std::move(pairs.before)), to_python(std::move(pairs.after)));
        },
        "words"_a, "sentences"_a, "n_words"_a,
        "The words before and the words after each word, each as (offsets int64, words int32, counts int32), words ascending. "
        "Word n_words is the sentence boundary.");
    m.def(
        "exchange_classes",
        [](const NeighbourTuple& before, const NeighbourTuple& after, const InOut<int32_t>& classes, size_t n_classes,
           size_t threads) {
            const NeighbourArrays left = neighbours(before), right = neighbours(after);
            const PassResult result =
                unlocked([&] { return exchange_classes(left, right, writable(classes), n_classes, threads); });
            return nb::make_tuple(result.moves, result.gain, result.objective);
        },
        "before"_a, "after"_a, "classes"_a, "n_classes"_a, "threads"_a = 1,
        "One pass of exchange clustering over all words, in order. Changes `classes` in place; -1 is a word without a class. "
        "Returns the number of moves, their gain in nats, and the objective.");
}
