// Binds clustering/exchange.h.
#include "clustering/exchange.h"

#include "bindings/bindings.h"
#include "bindings/views.h"

namespace nanobind::detail {

template <>  // offsets, words, counts
struct type_caster<NeighbourArrays> : fields_caster<NeighbourArrays, Array<int64_t>, Array<int32_t>, Array<int32_t>> {};
template <>
struct type_caster<Neighbours> : result_caster<Neighbours, &Neighbours::offsets, &Neighbours::words, &Neighbours::counts> {};
template <>
struct type_caster<WordNeighbours> : result_caster<WordNeighbours, &WordNeighbours::before, &WordNeighbours::after> {};
template <>
struct type_caster<PassResult> : result_caster<PassResult, &PassResult::moves, &PassResult::gain, &PassResult::objective> {};

}  // namespace nanobind::detail

void bind_clustering(nb::module_& m) {
    m.def("count_neighbours", &count_neighbours, "words"_a, "sentences"_a, "n_words"_a, without_lock,
          "The words before and the words after each word, each as (offsets int64, words int32, counts int32), words ascending. "
          "Word n_words is the sentence boundary.");
    m.def("exchange_classes", &exchange_classes, "before"_a, "after"_a, "classes"_a, "n_classes"_a, "threads"_a = 1, without_lock,
          "One pass of exchange clustering over all words, in order. Changes `classes` in place; -1 is a word without a class. "
          "Returns the number of moves, their gain in nats, and the objective.");
}
