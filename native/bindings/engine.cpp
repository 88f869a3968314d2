// Binds decoding/engine.h, decoding/batch.h, decoding/sentence_tagger.h and decoding/text_tagger.h.
#include "decoding/engine.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/checked_lattice.h"
#include "bindings/columns.h"
#include "bindings/feature_objects.h"
#include "bindings/label_parts.h"
#include "bindings/text.h"
#include "decoding/batch.h"
#include "decoding/conllu_tagger.h"
#include "decoding/sentence_tagger.h"
#include "decoding/text_tagger.h"
#include "text/conllu.h"

namespace {

using AttributeArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>>;  // offsets, ids, values

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

using UnseenArguments = std::tuple<std::vector<double>, double, double, double, size_t>;  // k, scale, shift, threshold, cap

std::optional<UnseenRule> rule_of(const std::optional<UnseenArguments>& given) {
    if (!given) return std::nullopt;
    const auto& [k, scale, shift, threshold, cap] = *given;
    return UnseenRule{k, scale, shift, threshold, cap};
}

template <typename T>
std::vector<T> copy_of(const In<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.shape(0));
}

// Copies rows and checks that their labels are ascending and below n_labels.
SparseRows rows_of(const LabelScoreArrays& arrays, size_t n_labels, const char* what) {
    const auto& [offsets, labels, scores] = arrays;
    check_offsets(view(offsets), labels.shape(0), what);
    if (labels.shape(0) != scores.shape(0)) throw nb::value_error(what);
    check_rising(view(offsets), view(labels), n_labels, what);
    return {copy_of(offsets), copy_of(labels), copy_of(scores)};
}

Batch batch_of(const Engine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready, const std::optional<CsrArrays>& more = std::nullopt) {
    Batch batch{view(columns, sentences), std::nullopt, view(more)};
    if (ready) {
        const auto& [offsets, ids, values] = *ready;
        batch.ready = Attributes{{view(offsets), view(ids)}, view(values)};
    }
    batch.check(engine);
    return batch;
}

// Work memory that goes back when the scope ends, unless an exception may have left it incomplete.
class Borrowed {
   public:
    explicit Borrowed(SentenceTagger& from) : from_(from), work_(from.borrow()) {}
    ~Borrowed() {
        if (std::uncaught_exceptions() == exceptions_) from_.give_back(std::move(work_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    SentenceWork* operator->() { return work_.get(); }
    SentenceWork& operator*() { return *work_; }

   private:
    SentenceTagger& from_;
    std::unique_ptr<SentenceWork> work_;
    int exceptions_ = std::uncaught_exceptions();
};

// Calls work(session) with a session whose memory is kept between calls.
template <typename Work>
auto with_session(BoundEngine& engine, Work work) {
    return unlocked([&] {
        Borrowed kept(engine.sentences);
        return work(kept->session());
    });
}

// A part of tagging that needs the interpreter lock.
//
// Reading a sentence and decoding it take some microseconds each, and a thread that blocks on the lock wakes up much later
// than that. So a thread that has decoded a sentence first waits actively for another thread: while that is in such a part, and
// for the short time in which Python calls it again.
class LockedPart {
   public:
    LockedPart() { state_.store(kInside, std::memory_order_relaxed); }
    ~LockedPart() { state_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
    LockedPart(const LockedPart&) = delete;
    LockedPart& operator=(const LockedPart&) = delete;

    // Calls a function without the lock.
    template <typename Work>
    void unlocked(Work work) {
        const nb::gil_scoped_release release;
        state_.store(kFree, std::memory_order_relaxed);
        const Wait again;
        work();
    }

   private:
    using Clock = std::chrono::steady_clock;
    using State = Clock::rep;
    static constexpr std::chrono::nanoseconds kLongest{50'000}, kAgain{3'000};
    // A thread is in such a part, no thread is, or the time at which a thread left.
    static constexpr State kInside = -1, kFree = 0;
    alignas(64) static inline std::atomic<State> state_ = kFree;

    struct Wait {
        ~Wait() { wait(); }
    };
    static void wait() {
#ifdef Py_GIL_DISABLED
        return;  // there is no lock to wait for
#endif
        State begin = 0;
        for (;;) {
            State state = state_.load(std::memory_order_relaxed);
            if (state == kFree && state_.compare_exchange_strong(state, kInside, std::memory_order_relaxed)) return;
            const State now = Clock::now().time_since_epoch().count();
            if (begin == 0) begin = now;
            if (now - begin > kLongest.count() || (state > kFree && now - state > kAgain.count())) break;
        }
        state_.store(kInside, std::memory_order_relaxed);
    }
};

// Memory to read a sentence into, which the thread keeps. Reading may call Python code, which may tag another sentence.
class ThreadMemory {
   public:
    ThreadMemory() { std::swap(memory_, kept()); }
    ~ThreadMemory() {
        if (memory_.reusable()) std::swap(memory_, kept());
    }
    ThreadMemory(const ThreadMemory&) = delete;
    ThreadMemory& operator=(const ThreadMemory&) = delete;
    ReadSentence* operator->() { return &memory_; }

   private:
    static ReadSentence& kept() {
        static thread_local ReadSentence own;
        return own;
    }
    ReadSentence memory_;
};

// Copies the words of a sentence; false if one is not a string, or cannot be encoded as UTF-8.
bool read_words(nb::list words, SentenceWords& out) {
    out.clear();
    const nb::ft_object_guard guard(words);  // without an interpreter lock, another thread could change the list
    for (Py_ssize_t i = 0; i < PyList_Size(words.ptr()); ++i) {
        PyObject* word = PyList_GetItem(words.ptr(), i);
        if (!PyUnicode_CheckExact(word)) return false;
        const std::string_view text = utf8_of(word);
        if (text.data() == nullptr) return false;
        out.add(text);
    }
    return true;
}

nb::object list_of(const nb::tuple& labels, const std::vector<int32_t>& ids) {
    nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(ids.size())));
    if (!out.is_valid()) throw nb::python_error();
    for (size_t i = 0; i < ids.size(); ++i)  // the list takes over a reference
        PyList_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(labels[static_cast<size_t>(ids[i])]).release().ptr());
    return out;
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
    locked.unlocked([&] { Borrowed(engine.sentences)->tag(words ? &read->words : nullptr, engine.names, named, read->best); });
    return list_of(engine.labels, read->best);
}

nb::object tag_features(BoundEngine& engine, nb::handle features) { return tag_sentence(engine, std::nullopt, features); }

nb::tuple tag_text(const BoundEngine& engine, nb::bytes data, const std::vector<std::string>& labels,
                   const std::vector<size_t>& positions, const std::string& separator, const std::string& comment, size_t threads,
                   int64_t first_line) {
    if (positions.size() != engine.map().n_columns() || labels.size() != engine.n_labels() || separator.size() > 1)
        throw nb::value_error("columns, labels or separator do not match the model");
    const std::string_view text = text_of(data);
    std::string out;
    const int64_t tokens =
        unlocked([&] { return TextTagger(engine, labels, positions, separator, comment).run(text, out, first_line, threads); });
    return nb::make_tuple(nb::bytes(out.data(), out.size()), tokens);
}

nb::tuple tag_conllu(const BoundEngine& engine, nb::bytes data, const std::vector<size_t>& positions,
                     const std::vector<size_t>& targets, const std::vector<std::vector<std::string>>& texts,
                     const std::string& key, size_t threads, int64_t first_line) {
    bool fits = positions.size() == engine.map().n_columns() && (targets.size() == 1 || (targets.size() == 2 && key.empty())) &&
                targets.size() == texts.size() && targets[0] < targets.back() + (targets.size() == 1);
    for (const auto& text : texts) fits = fits && text.size() == engine.n_labels();
    for (const size_t field : positions) fits = fits && field < kConlluFields;
    for (const size_t field : targets) fits = fits && field < kConlluFields;
    if (!fits) throw nb::value_error("columns, labels or fields do not match the model");
    const std::string_view text = text_of(data);
    std::string out;
    const int64_t tokens = unlocked(
        [&] { return ConlluTagger(engine, ConlluLabels{targets, texts, key}, positions).run(text, out, first_line, threads); });
    return nb::make_tuple(nb::bytes(out.data(), out.size()), tokens);
}

}  // namespace

void bind_engine(nb::module_& m) {
    nb::class_<BoundEngine>(m, "Engine", "A chain model prepared for tagging.")
        .def(
            "__init__",
            [](BoundEngine* self, const FeatureMap& map, const Edges& edges, const In<float>& bias, size_t word_column,
               const LabelScoreArrays& rows, std::vector<int32_t> level_functions, std::vector<int64_t> level_bases,
               const LabelScoreArrays& linear, const LabelScoreArrays& edge_weights, int64_t first_feature, bool all_labels,
               bool by_features, float floor, const std::optional<UnseenArguments>& unseen, const PartArrays& parts,
               const AttributeNames* names, nb::list labels, const std::optional<EdgeFeatureWeights>& word_pairs) {
                if (names != nullptr && static_cast<int64_t>(names->size()) != first_feature)
                    throw nb::value_error("names and features disagree");
                const auto K = static_cast<size_t>(edges.n_labels);
                LabelParts of_labels = parts_of(parts);
                const size_t n_columns = K + of_labels.size();
                const LabelPairs pairs = edges.pairs();
                new (self) BoundEngine(
                    map, edges,
                    {copy_of(bias), word_column, rows_of(rows, K, "back-off rows are damaged"), std::move(level_functions),
                     std::move(level_bases), rows_of(linear, n_columns, "weights are damaged"),
                     rows_of(edge_weights, pairs.small() ? pairs.size() : 0, "edge weights are damaged"), first_feature,
                     all_labels, floor, rule_of(unseen), std::move(of_labels), by_features,
                     word_pairs ? word_pairs->words : nullptr, word_pairs ? word_pairs->word_pairs : WordPairScores{}},
                    names, labels);
            },
            nb::arg("map"), nb::arg("edges"), nb::arg("bias"), nb::arg("word_column"), nb::arg("rows"),
            nb::arg("level_functions"), nb::arg("level_bases"), nb::arg("linear"), nb::arg("edge_weights"),
            nb::arg("first_feature"), nb::arg("all_labels"), nb::arg("by_features"), nb::arg("floor"), nb::arg("unseen").none(),
            nb::arg("parts").none(), nb::arg("names").none(), nb::arg("labels"), nb::arg("word_pairs").none(),
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 17>())
        .def(
            "tag_columns",
            [](BoundEngine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready, size_t threads) {
                const Batch batch = batch_of(engine, columns, sentences, ready);
                return to_numpy(with_session(engine, [&](Session& kept) { return tag(engine, batch, threads, kept); }));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(), nb::arg("threads"),
            "The best label id of each token of a corpus.")
        .def(
            "lattice",
            [](BoundEngine& engine, const std::vector<ColumnArrays>& columns, const In<int64_t>& sentences,
               const AttributeArrays& ready, size_t threads, const std::optional<CsrArrays>& more) {
                const Batch batch = batch_of(engine, columns, sentences, ready, more);
                BatchLattice found = with_session(engine, [&](Session& kept) { return lattice(engine, batch, threads, kept); });
                return to_tuple(std::move(found.offsets), std::move(found.labels), std::move(found.scores),
                                std::move(found.edge_offsets), std::move(found.edge_ids));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(), nb::arg("threads") = 1,
            nb::arg("more") = nb::none(),
            "Candidate labels and node scores of each token, and its edge features: (offsets, labels, scores, offsets, ids). "
            "`more` has further candidates of each token: (offsets, labels).")
        .def("tag_sentence", &tag_sentence, nb::arg("words").none(), nb::arg("features").none(),
             "The labels of one sentence, for a model that reads one column of words, ready-made features, or both. None if a "
             "word "
             "is not a string that can be encoded as UTF-8.")
        .def("tag_features", &tag_features, nb::arg("features"),
             "The labels of one sentence, for a model that reads ready-made features only.")
        .def("tag_text", &tag_text, nb::arg("data"), nb::arg("labels"), nb::arg("positions"), nb::arg("separator"),
             nb::arg("comment"), nb::arg("threads"), nb::arg("first_line"),
             "The column text with a label appended to each token's line, and the number of tokens.")
        .def("tag_conllu", &tag_conllu, nb::arg("data"), nb::arg("positions"), nb::arg("targets"), nb::arg("texts"),
             nb::arg("key"), nb::arg("threads"), nb::arg("first_line"),
             "The CoNLL-U text with labels in the target fields of its tokens, and the number of tokens. texts has the text of "
             "each label for each target. With a key, texts are entries of MISC. RuntimeError has the number of a bad line.");
}
