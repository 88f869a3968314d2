// Binds decoding/: the engine that tags, and questions about labellings.
#include "bindings/bindings.h"
#include "bindings/feature_objects.h"
#include "bindings/objects.h"
#include "bindings/views.h"
#include "core/locked_part.h"
#include "decoding/batch.h"
#include "decoding/conllu_tagger.h"
#include "decoding/path_answers.h"
#include "decoding/sentence_tagger.h"
#include "decoding/text_tagger.h"

namespace nanobind::detail {

template <>  // k, scale, shift, threshold, cap
struct type_caster<UnseenRule> : fields_caster<UnseenRule, std::vector<double>, double, double, double, size_t> {};
template <>  // group, opens, closes, by label
struct type_caster<SpanTables> : fields_caster<SpanTables, Array<int32_t>, Array<uint8_t>, Array<uint8_t>> {};
template <>
struct type_caster<BatchLattice> : result_caster<BatchLattice, &BatchLattice::offsets, &BatchLattice::labels,
                                                 &BatchLattice::scores, &BatchLattice::edge_offsets, &BatchLattice::edge_ids> {};

}  // namespace nanobind::detail

namespace {

// An engine with what tagging of single sentences needs.
struct BoundEngine : Engine {
    BoundEngine(const FeatureMap& map, const Edges& edges, EngineData data, const AttributeNames* names, nb::list labels)
        : Engine(map, edges, std::move(data)), names(names), labels(labels), sentences(*this) {
        if (this->labels.size() != n_labels()) throw nb::value_error("labels and edges disagree");
    }

    const AttributeNames* names;  // of ready-made features, or null
    nb::tuple labels;             // by id
    SentenceTagger sentences;
};

// Calls ask(engine, batch, threads, session) for a batch, with a session whose memory is kept between calls.
template <typename Ask>
auto of_batch(BoundEngine& engine, const Batch& batch, size_t threads, Ask ask) {
    batch.check(engine);
    Borrowed kept(engine.sentences);
    return ask(engine, batch, threads, kept->session());
}

// Copies the words of a sentence; false if one is not a string, or cannot be encoded as UTF-8.
bool read_words(nb::list words, SentenceWords& out) {
    out.clear();
    return each_of(words, [&](nb::handle word) {
        const std::string_view text = PyUnicode_CheckExact(word.ptr()) ? utf8_of(word) : std::string_view();
        if (text.data() != nullptr) out.add(text);
        return text.data() != nullptr;
    });
}

// The labels of one sentence. Objects are copied first; then the interpreter lock is released.
nb::object tag_sentence(BoundEngine& engine, std::optional<nb::list> words, nb::handle features) {
    if (words.has_value() != (engine.map().n_columns() == 1) || engine.map().n_columns() > 1)
        throw nb::value_error("columns do not match the model");
    if (!features.is_none() && engine.names == nullptr) throw nb::value_error("the model has no ready-made features");
    if (features.is_none() && !words) throw nb::value_error("there are neither words nor features");
    LockedPart locked;
    ThreadMemory read;
    if (words && !read_words(*words, read->words)) return nb::none();
    const NamedFeatures* named = nullptr;
    if (!features.is_none() && !nb::try_cast(features, named, false)) {
        read->features.clear();
        FeatureReader(read->features).read(features);
        named = &read->features;
    }
    locked.unlocked<nb::gil_scoped_release, kHasLock>(
        [&] { Borrowed(engine.sentences)->tag(words ? &read->words : nullptr, engine.names, named, read->best); });
    return named_labels(engine.labels, read->best.data(), read->best.size());
}

nb::object tag_features(BoundEngine& engine, nb::handle features) { return tag_sentence(engine, std::nullopt, features); }

nb::tuple tag_text(const BoundEngine& engine, nb::bytes data, const std::vector<std::string>& labels,
                   const std::vector<size_t>& positions, const std::string& separator, const std::string& comment, size_t threads,
                   int64_t first_line) {
    const std::string_view text = text_of(data);
    std::string out;
    const int64_t tokens =
        unlocked([&] { return TextTagger(engine, labels, positions, separator, comment).run(text, out, first_line, threads); });
    return nb::make_tuple(nb::bytes(out.data(), out.size()), tokens);
}

nb::tuple tag_conllu(const BoundEngine& engine, nb::bytes data, const std::vector<size_t>& positions,
                     const std::vector<size_t>& targets, const std::vector<std::vector<std::string>>& texts,
                     const std::string& key, size_t threads, int64_t first_line) {
    const std::string_view text = text_of(data);
    std::string out;
    const int64_t tokens = unlocked([&] {
        return ConlluTagger(engine, {targets, texts, key, engine.n_labels()}, positions).run(text, out, first_line, threads);
    });
    return nb::make_tuple(nb::bytes(out.data(), out.size()), tokens);
}

// Returns a list of (labels, P) for each sentence, and log Z.
nb::tuple n_best(const PathAnswers& paths, size_t n, const nb::list& names) {
    if (names.size() != static_cast<size_t>(paths.edges().n_labels)) throw nb::value_error("names and labels disagree");
    NBest found = unlocked([&] { return paths.n_best(n); });
    const auto of_sentence = [&](size_t s) {
        const size_t length = paths.lattice().length(s);
        return list_of(found.p[s].size(), [&](size_t rank) {
            return nb::make_tuple(named_labels(names, found.labels[s].data() + rank * length, length), found.p[s][rank]);
        });
    };
    return nb::make_tuple(list_of(found.p.size(), of_sentence), to_numpy(std::move(found.log_z)));
}

void bind_paths(nb::module_& m) {
    nb::class_<PathAnswers>(m, "Paths", "The labellings of sentences, under constraints.")
        .def(
            "__init__",
            [](PathAnswers* self, const Array<int64_t>& sentences, const Array<int64_t>& offsets, const Array<int32_t>& labels,
               const Array<float>& scores, const Edges& edges, const ExtraArrays& extra,
               const std::optional<Array<uint8_t>>& allowed, const std::optional<Array<uint8_t>>& forbidden,
               const std::optional<SpanTables>& blocks, size_t threads) {
                new (self) PathAnswers(lattice_of(sentences, offsets, labels, scores, edges, extra), edges, allowed, forbidden,
                                       blocks, threads);
            },
            "sentences"_a, "offsets"_a, "labels"_a, "scores"_a, "edges"_a, "extra"_a.none(), "allowed"_a.none(),
            "forbidden"_a.none(), "blocks"_a.none(), "threads"_a, nb::keep_alive<1, 6>())
        .def("best", &PathAnswers::best, without_lock,
             "The best label of each token and the score of each sentence; -inf without a path, NaN if the search gave up.")
        .def("n_best", &n_best, "n"_a, "names"_a,
             "The best labellings of each sentence with their probabilities, and log Z of each sentence.")
        .def("through", &PathAnswers::through, without_lock,
             "The score of the best labelling with each candidate; -inf if there is none.")
        .def("traces", &PathAnswers::traces, "places"_a, "tokens"_a, "candidates"_a, without_lock,
             "The best labellings with some candidates: their labels, and the scores of their arcs, one more than tokens.")
        .def("sums", &PathAnswers::sums, without_lock, "log Z of each sentence and the entropy of its labellings.")
        .def("marginals", &PathAnswers::marginals, "with_pairs"_a, without_lock,
             "log Z of each sentence, P(label) of each candidate, and P(label, label) of neighbouring candidates.")
        .def("span_probabilities", &PathAnswers::span_probabilities, "places"_a, "starts"_a, "stops"_a, "groups"_a, "labels"_a,
             without_lock, "The probability of each span; `places` are offsets of spans by sentence.")
        .def("sample", &PathAnswers::sample, "n"_a, "seed"_a, without_lock,
             "n labellings of each sentence, one sentence after the other.");
}

void make_engine(BoundEngine* self, const FeatureMap& map, const Edges& edges, const Array<float>& bias, size_t word_column,
                 const LabelScores& rows, std::vector<int32_t> level_functions, std::vector<int64_t> level_bases,
                 const LabelScores& linear, const LabelScores& edge_weights, int64_t first_feature, bool all_labels,
                 bool by_features, float floor, const std::optional<UnseenRule>& unseen, const PartArrays& parts,
                 const AttributeNames* names, nb::list labels, const std::optional<EdgeFeatureWeights>& word_pairs) {
    if (names != nullptr && static_cast<int64_t>(names->size()) != first_feature)
        throw nb::value_error("names and features disagree");
    const auto K = static_cast<size_t>(edges.n_labels);
    LabelParts of_labels = parts_of(parts);
    const size_t n_columns = K + of_labels.size();
    const LabelPairs pairs = edges.pairs();
    EngineData data{std::vector<float>(bias.begin(), bias.end()),
                    word_column,
                    copied_rows(rows, K, "back-off rows are damaged"),
                    std::move(level_functions),
                    std::move(level_bases),
                    copied_rows(linear, n_columns, "weights are damaged"),
                    copied_rows(edge_weights, pairs.small() ? pairs.size() : 0, "edge weights are damaged"),
                    first_feature,
                    all_labels,
                    floor,
                    unseen,
                    std::move(of_labels),
                    by_features,
                    word_pairs ? word_pairs->words : nullptr,
                    word_pairs ? word_pairs->word_pairs : WordPairScores{}};
    new (self) BoundEngine(map, edges, std::move(data), names, labels);
}

void bind_tagging(nb::module_& m) {
    nb::class_<BoundEngine>(m, "Engine", "A chain model prepared for tagging.")
        .def("__init__", &make_engine, "map"_a, "edges"_a, "bias"_a, "word_column"_a, "rows"_a, "level_functions"_a,
             "level_bases"_a, "linear"_a, "edge_weights"_a, "first_feature"_a, "all_labels"_a, "by_features"_a, "floor"_a,
             "unseen"_a.none(), "parts"_a.none(), "names"_a.none(), "labels"_a, "word_pairs"_a.none(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 17>())
        .def(
            "tag_columns",
            [](BoundEngine& engine, const std::vector<StringColumn>& columns, const Array<int64_t>& sentences,
               const std::optional<Attributes>& ready,
               size_t threads) { return of_batch(engine, {{columns, sentences}, ready, {}}, threads, tag); },
            "columns"_a, "sentences"_a, "ready"_a.none(), "threads"_a, without_lock,
            "The best label id of each token of a corpus.")
        .def(
            "lattice",
            [](BoundEngine& engine, const std::vector<StringColumn>& columns, const Array<int64_t>& sentences,
               const std::optional<Attributes>& ready, size_t threads, const std::optional<Csr>& more) {
                return of_batch(engine, {{columns, sentences}, ready, more}, threads, lattice);
            },
            "columns"_a, "sentences"_a, "ready"_a.none(), "threads"_a = 1, "more"_a = nb::none(), without_lock,
            "Candidate labels and node scores of each token, and its edge features: (offsets, labels, scores, offsets, ids). "
            "`more` has further candidates of each token: (offsets, labels).")
        .def("tag_sentence", &tag_sentence, "words"_a.none(), "features"_a.none(),
             "The labels of one sentence, for a model that reads one column of words, ready-made features, or both. None if a "
             "word is not a string that can be encoded as UTF-8.")
        .def("tag_features", &tag_features, "features"_a,
             "The labels of one sentence, for a model that reads ready-made features only.")
        .def("tag_text", &tag_text, "data"_a, "labels"_a, "positions"_a, "separator"_a, "comment"_a, "threads"_a, "first_line"_a,
             "The column text with a label appended to each token's line, and the number of tokens.")
        .def("tag_conllu", &tag_conllu, "data"_a, "positions"_a, "targets"_a, "texts"_a, "key"_a, "threads"_a, "first_line"_a,
             "The CoNLL-U text with labels in the target fields of its tokens, and the number of tokens. texts has the text of "
             "each label for each target. With a key, texts are entries of FEATS or MISC. RuntimeError has the number of a bad "
             "line.");
}

}  // namespace

void bind_decoding(nb::module_& m) {
    bind_paths(m);
    bind_tagging(m);
}
