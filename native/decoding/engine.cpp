// The fused path from strings to labels: what a trained chain model does with a sentence.
//
//     node_j(y) = row(word_j)(y) + bias(y) + sum over templates t of weight(feature_t(j), y)
//     edge_j(y, y') = T(y, y') + sum over templates t of edge weight(feature_t(j), y, y')     for the edge to token j
//
// row(word) is a counted distribution: the word's own where it is known, else that of the most specific rung of the
// ladder that has one, else the prior's. Its labels are the candidates; a model without rows, or with all labels asked
// for, takes every label. Then Viterbi. Threads split the sentences; no sentence sees another.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "chain/lattice.h"
#include "core/parallel.h"
#include "features/feature_map.h"
#include "text/lines.h"

namespace {

template <typename T>
std::vector<T> copy_of(const In<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.shape(0));
}

// Sparse rows: row i holds (labels, values) from offsets[i] to offsets[i + 1].
struct SparseRows {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> labels;
    std::vector<float> values;

    SparseRows() = default;
    SparseRows(In<int64_t> o, In<int32_t> l, In<float> v, int32_t n_labels, const char* what)
        : offsets(copy_of(o)), labels(copy_of(l)), values(copy_of(v)) {
        check_offsets(o, labels.size(), what);
        if (labels.size() != values.size()) throw nb::value_error(what);
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
                if (labels[k] < 0 || labels[k] >= n_labels || (k > offsets[i] && labels[k] <= labels[k - 1]))
                    throw nb::value_error(what);
    }
    size_t size() const { return offsets.size() - 1; }
    bool empty(int64_t row) const { return offsets[row] == offsets[row + 1]; }
};

class Engine {
   public:
    Engine(const FeatureMap& map, const Edges& edges, std::vector<float> bias, size_t word_column, SparseRows rows,
           std::vector<int32_t> rung_functions, std::vector<int64_t> rung_bases, SparseRows linear, SparseRows edge_weights,
           int64_t first_feature, bool all_labels, float floor)
        : map_(map),
          edges_(edges),
          bias_(std::move(bias)),
          word_column_(word_column),
          rows_(std::move(rows)),
          rung_functions_(std::move(rung_functions)),
          rung_bases_(std::move(rung_bases)),
          linear_(std::move(linear)),
          edge_weights_(std::move(edge_weights)),
          all_labels_(all_labels || rows_.size() == 0),
          floor_(floor) {
        const auto K = static_cast<size_t>(edges_.n_labels);
        if (K < 1) throw nb::value_error("a model needs a label");
        if (bias_.empty()) bias_.assign(K, 0.0f);
        if (bias_.size() != K) throw nb::value_error("one bias a label is needed");
        if (first_feature < 0) throw nb::value_error("feature ids are not negative");
        bases_.assign(1, first_feature);
        for (size_t t = 0; t < map.n_templates(); ++t)
            bases_.push_back(bases_.back() + static_cast<int64_t>(map.n_features(t)));
        if (static_cast<size_t>(bases_.back()) > linear_.size()) throw nb::value_error("fewer weights than features");
        if (rows_.size() > 0) check_rows();
        active_.assign(map.n_templates(), false);
        if (edge_weights_.size() != 0 && edge_weights_.size() != linear_.size())
            throw nb::value_error("edge weights and features disagree");
        edge_active_.assign(map.n_templates(), false);
        for (size_t t = 0; edge_weights_.size() != 0 && t < active_.size(); ++t)
            edge_active_[t] = edge_weights_.offsets[bases_[t]] < edge_weights_.offsets[bases_[t + 1]];
        for (size_t t = 0; t < active_.size(); ++t) active_[t] = linear_.offsets[bases_[t]] < linear_.offsets[bases_[t + 1]];
    }

    const FeatureMap& map() const { return map_; }
    const Edges& edges() const { return edges_; }
    size_t n_labels() const { return static_cast<size_t>(edges_.n_labels); }
    int64_t n_linear() const { return static_cast<int64_t>(linear_.size()); }

    int64_t row_of(const Lexicon& lexicon, int32_t word) const {
        if (word < rung_bases_.front() && !rows_.empty(word)) return word;
        for (size_t r = 0; r < rung_functions_.size(); ++r) {
            const int32_t value = lexicon.value(static_cast<size_t>(rung_functions_[r]), word);
            if (value >= 0 && value < rung_bases_[r + 1] - rung_bases_[r] && !rows_.empty(rung_bases_[r] + value))
                return rung_bases_[r] + value;
        }
        return static_cast<int64_t>(rows_.size()) - 1;
    }

    bool all_labels() const { return all_labels_; }
    size_t word_column() const { return word_column_; }
    const SparseRows& rows() const { return rows_; }
    const SparseRows& linear() const { return linear_; }
    const std::vector<float>& bias() const { return bias_; }
    float floor() const { return floor_; }
    bool active(size_t t) const { return active_[t]; }
    bool edge_active(size_t t) const { return edge_active_[t]; }
    bool has_edge_features() const { return edge_weights_.size() != 0; }
    const SparseRows& edge_weights() const { return edge_weights_; }
    int64_t base(size_t t) const { return bases_[t]; }

   private:
    void check_rows() const {
        if (word_column_ >= map_.n_columns()) throw nb::value_error("no such word column");
        const auto words = static_cast<int64_t>(map_.strings(word_column_).size());
        const auto n = static_cast<int64_t>(rows_.size());
        if (rung_bases_.size() != rung_functions_.size() + 1 || rung_bases_.front() != words || rung_bases_.back() != n - 1)
            throw nb::value_error("ladder rows and rungs disagree");
        for (size_t r = 0; r < rung_functions_.size(); ++r)
            if (rung_bases_[r + 1] < rung_bases_[r] || rung_functions_[r] < 0 ||
                static_cast<size_t>(rung_functions_[r]) >= map_.n_functions() ||
                static_cast<size_t>(map_.function(static_cast<size_t>(rung_functions_[r])).column) != word_column_)
                throw nb::value_error("ladder rungs out of range");
        if (rows_.empty(n - 1)) throw nb::value_error("the prior's row is empty");
    }

    const FeatureMap& map_;
    const Edges& edges_;
    std::vector<float> bias_;
    size_t word_column_;
    SparseRows rows_;
    std::vector<int32_t> rung_functions_;
    std::vector<int64_t> rung_bases_;
    SparseRows linear_, edge_weights_;
    bool all_labels_;
    float floor_;
    std::vector<int64_t> bases_;
    std::vector<bool> active_, edge_active_;
};

// Ready-made features of the tokens of a batch: ids[offsets[t] .. offsets[t + 1]), numbered as in the weights; -1 unknown.
struct ReadyFeatures {
    const int64_t* offsets = nullptr;
    const int32_t* ids = nullptr;
    const float* values = nullptr;  // null where all are 1
};

// One thread's state: strings met so far, and the lattice of the sentence at hand.
class Session {
   public:
    explicit Session(const Engine& engine) : engine_(engine), lexicon_(engine.map()) {
        iota_.resize(engine.all_labels() ? engine.n_labels() : 0);
        for (size_t y = 0; y < iota_.size(); ++y) iota_[y] = static_cast<int32_t>(y);
    }

    Lexicon& lexicon() { return lexicon_; }

    // Fills the lattice of a sentence; keep_scores false lets positions with one candidate go unscored.
    void build(const int32_t* const* columns, int64_t n, bool keep_scores, const ReadyFeatures& ready, int64_t token) {
        offsets.assign(1, 0);
        labels.clear();
        scores.clear();
        edge_offsets.assign(1, 0);
        edge_ids.clear();
        for (int64_t i = 0; i < n; ++i) {
            const size_t at = labels.size();
            place(columns, i);
            const size_t width = labels.size() - at;
            offsets.push_back(static_cast<int64_t>(labels.size()));
            if (engine_.has_edge_features()) list_edge_features(columns, i, n, ready, token);
            if (width == 1 && !keep_scores) continue;
            float* score = scores.data() + at;
            const int32_t* own = labels.data() + at;
            for (size_t t = 0; t < engine_.map().n_templates(); ++t) {
                if (!engine_.active(t)) continue;
                const int32_t f = lexicon_.feature(t, columns, i, n);
                if (f >= 0 && engine_.base(t) + f < engine_.base(t + 1)) add(engine_.base(t) + f, own, width, score);
            }
            if (ready.offsets != nullptr)
                for (int64_t k = ready.offsets[token + i]; k < ready.offsets[token + i + 1]; ++k)
                    if (ready.ids[k] >= 0) add(ready.ids[k], own, width, score, ready.values == nullptr ? 1.0f : ready.values[k]);
        }
    }
    float decode(int64_t n, int32_t* best) {
        SentenceLattice lattice{offsets.data(), labels.data(), scores.data(), static_cast<size_t>(n)};
        if (engine_.has_edge_features()) {
            const SparseRows& rows = engine_.edge_weights();
            lattice.extra = {edge_offsets.data(), edge_ids.data(), rows.offsets.data(), rows.labels.data(), rows.values.data()};
        }
        return viterbi_.decode(lattice, engine_.edges(), best);
    }

    std::vector<int64_t> offsets;
    std::vector<int32_t> labels;
    std::vector<float> scores;
    std::vector<int64_t> edge_offsets;  // edge features of each token
    std::vector<int32_t> edge_ids;

   private:
    void list_edge_features(const int32_t* const* columns, int64_t i, int64_t n, const ReadyFeatures& ready, int64_t token) {
        const SparseRows& rows = engine_.edge_weights();
        for (size_t t = 0; t < engine_.map().n_templates(); ++t) {
            if (!engine_.edge_active(t)) continue;
            const int32_t f = lexicon_.feature(t, columns, i, n);
            if (f >= 0 && !rows.empty(engine_.base(t) + f)) edge_ids.push_back(static_cast<int32_t>(engine_.base(t) + f));
        }
        if (ready.offsets != nullptr)
            for (int64_t k = ready.offsets[token + i]; k < ready.offsets[token + i + 1]; ++k)
                if (ready.ids[k] >= 0 && !rows.empty(ready.ids[k])) edge_ids.push_back(ready.ids[k]);
        edge_offsets.push_back(static_cast<int64_t>(edge_ids.size()));
    }

    // Candidates and their row scores.
    void place(const int32_t* const* columns, int64_t i) {
        const SparseRows& rows = engine_.rows();
        if (engine_.all_labels()) {
            const size_t at = labels.size();
            labels.insert(labels.end(), iota_.begin(), iota_.end());
            scores.insert(scores.end(), engine_.bias().begin(), engine_.bias().end());
            if (rows.size() == 0) return;
            const int64_t row = engine_.row_of(lexicon_, columns[engine_.word_column()][i]);
            for (size_t y = 0; y < iota_.size(); ++y) scores[at + y] += engine_.floor();
            for (int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k)
                scores[at + static_cast<size_t>(rows.labels[k])] += rows.values[k] - engine_.floor();
            return;
        }
        const int64_t row = engine_.row_of(lexicon_, columns[engine_.word_column()][i]);
        const int64_t a = rows.offsets[row], b = rows.offsets[row + 1];
        labels.insert(labels.end(), rows.labels.begin() + a, rows.labels.begin() + b);
        for (int64_t k = a; k < b; ++k) scores.push_back(rows.values[k] + engine_.bias()[rows.labels[k]]);
    }

    // score(y) += weight(feature, y) for the candidates; both lists rise.
    void add(int64_t feature, const int32_t* own, size_t width, float* score, float value = 1.0f) const {
        const SparseRows& linear = engine_.linear();
        const int64_t a = linear.offsets[feature], b = linear.offsets[feature + 1];
        if (width == engine_.n_labels()) {
            for (int64_t k = a; k < b; ++k) score[linear.labels[k]] += value * linear.values[k];
            return;
        }
        size_t j = 0;
        for (int64_t k = a; k < b; ++k) {
            while (j < width && own[j] < linear.labels[k]) ++j;
            if (j == width) return;
            if (own[j] == linear.labels[k]) score[j] += value * linear.values[k];
        }
    }

    const Engine& engine_;
    Lexicon lexicon_;
    Viterbi viterbi_;
    std::vector<int32_t> iota_;
};

using ColumnArrays = std::tuple<In<int32_t>, In<uint8_t>, In<int64_t>>;  // ids, blob, offsets
using ReadyArrays = std::optional<std::tuple<In<int64_t>, In<int32_t>, std::optional<In<float>>>>;

// A batch of sentences in columns: checks it once, then hands out sentences in a session's own ids.
struct Batch {
    const std::vector<ColumnArrays>& columns;
    In<int64_t> sentences;
    ReadyFeatures ready;

    Batch(const Engine& engine, const std::vector<ColumnArrays>& c, In<int64_t> s, const ReadyArrays& features)
        : columns(c), sentences(s) {
        const size_t n = s.shape(0) == 0 ? 0 : static_cast<size_t>(s(s.shape(0) - 1));
        check_offsets(s, n, "sentence offsets start at 0 and never fall");
        if (c.size() != engine.map().n_columns()) throw nb::value_error("wrong number of columns");
        for (const auto& [ids, blob, offsets] : c) {
            check_offsets(offsets, blob.shape(0), "a column's strings do not fit their offsets");
            if (ids.shape(0) != n) throw nb::value_error("a column's length and the sentence offsets disagree");
            for (size_t t = 0; t < n; ++t)
                if (ids(t) < 0 || static_cast<size_t>(ids(t)) + 1 >= offsets.shape(0))
                    throw nb::value_error("string id out of range");
        }
        if (!features && c.empty() && n > 0) throw nb::value_error("tokens without columns and without features");
        if (!features) return;
        const auto& [offsets, ids, values] = *features;
        if (offsets.shape(0) != n + 1) throw nb::value_error("feature offsets and the sentence offsets disagree");
        check_offsets(offsets, ids.shape(0), "feature offsets and features disagree");
        for (size_t k = 0; k < ids.shape(0); ++k)
            if (ids(k) >= engine.n_linear()) throw nb::value_error("feature id out of range");
        if (values && values->shape(0) != ids.shape(0)) throw nb::value_error("feature ids and values disagree");
        ready = {offsets.data(), ids.data(), values ? values->data() : nullptr};
    }
    int64_t first(size_t s) const { return sentences(s); }
    int64_t length(size_t s) const { return sentences(s + 1) - sentences(s); }
    size_t size() const { return sentences.shape(0) - 1; }
};

// Translates a batch's strings into a session's ids when they are first met.
class Translator {
   public:
    Translator(Session& session, const Batch& batch) : session_(session), batch_(batch), placed_(batch.columns.size()), ids_(placed_.size()) {
        for (size_t c = 0; c < placed_.size(); ++c)
            placed_[c].assign(std::get<2>(batch.columns[c]).shape(0) - 1, -1);
        at_.resize(placed_.size());
    }
    const int32_t* const* sentence(int64_t first, int64_t n) {
        for (size_t c = 0; c < placed_.size(); ++c) {
            const auto& [ids, blob, offsets] = batch_.columns[c];
            const auto* bytes = reinterpret_cast<const char*>(blob.data());
            ids_[c].resize(static_cast<size_t>(n));
            for (int64_t i = 0; i < n; ++i) {
                const int32_t s = ids(first + i);
                int32_t& place = placed_[c][s];
                if (place < 0)
                    place = session_.lexicon().id(c, {bytes + offsets(s), static_cast<size_t>(offsets(s + 1) - offsets(s))});
                ids_[c][i] = place;
            }
            at_[c] = ids_[c].data();
        }
        return at_.data();
    }

   private:
    Session& session_;
    const Batch& batch_;
    std::vector<std::vector<int32_t>> placed_, ids_;
    std::vector<const int32_t*> at_;
};

// Column text in, the same lines with a label appended out, before the carriage returns that end them.
class TextTagger {
   public:
    TextTagger(const Engine& engine, const std::vector<std::string>& labels, std::vector<size_t> positions,
               std::string_view separator, std::string_view comment)
        : engine_(engine), labels_(labels), positions_(std::move(positions)), separator_(separator), comment_(comment) {
        for (const size_t p : positions_) needed_ = std::max(needed_, p + 1);
    }

    // Tags a text of whole sentences, appending to `out`. Returns the tokens tagged.
    int64_t run(std::string_view text, std::string& out, int64_t first_line) const {
        Session session(engine_);
        std::vector<std::vector<int32_t>> ids(engine_.map().n_columns());
        std::vector<const int32_t*> at(ids.size());
        std::vector<Line> lines;
        std::vector<int32_t> best;
        int64_t n = 0, tokens = 0, line_number = first_line;
        out.reserve(out.size() + text.size() * 5 / 4);
        auto flush = [&] {
            if (n > 0) {
                for (size_t c = 0; c < ids.size(); ++c) at[c] = ids[c].data();
                best.resize(static_cast<size_t>(n));
                session.build(at.data(), n, false, {}, 0);
                session.decode(n, best.data());
            }
            size_t j = 0;
            for (const Line& line : lines) write(line, line.token ? best[j++] : -1, out);
            tokens += n;
            lines.clear();
            for (auto& column : ids) column.clear();
            n = 0;
        };
        std::vector<std::string_view> fields;
        for (std::string_view whole; next_line(text, whole); ++line_number) {
            const std::string_view row = without_trailing_space(whole);
            const bool comment = begins_with(row, comment_);
            const bool newline = whole.data() + whole.size() < text.data();
            size_t returns = whole.size();
            while (returns > 0 && whole[returns - 1] == '\r') --returns;
            lines.push_back(Line{whole.substr(0, returns), whole.substr(returns), newline, !row.empty() && !comment});
            if (row.empty()) {
                flush();
            } else if (!comment) {
                split_fields(row, separator_, needed_, fields);
                if (fields.size() < needed_)
                    throw std::runtime_error("line " + std::to_string(line_number) + " has " + std::to_string(fields.size()) +
                                             " columns, the model reads column " + std::to_string(needed_));
                for (size_t c = 0; c < ids.size(); ++c) ids[c].push_back(session.lexicon().id(c, fields[positions_[c]]));
                ++n;
            }
        }
        flush();
        return tokens;
    }

   private:
    struct Line {
        std::string_view text, returns;  // what stands before and after a label
        bool newline, token;
    };

    void write(const Line& line, int32_t label, std::string& out) const {
        out.append(line.text);
        if (label >= 0) {
            const bool spaced = line.text.find('\t') == std::string_view::npos && line.text.find(' ') != std::string_view::npos;
            out.append(separator_.empty() ? (spaced ? " " : "\t") : separator_);
            out.append(labels_[static_cast<size_t>(label)]);
        }
        out.append(line.returns);
        if (line.newline || label >= 0) out.push_back('\n');
    }

    const Engine& engine_;
    const std::vector<std::string>& labels_;
    std::vector<size_t> positions_;
    std::string_view separator_, comment_;
    size_t needed_ = 1;
};

// Label pairs are numbered y (K + 1) + y'; with too many labels for that, no edge weight is in range.
int32_t pair_labels(const Edges& edges) {
    const int64_t size = static_cast<int64_t>(edges.n_labels) + 1;
    return size * size > INT32_MAX ? 0 : static_cast<int32_t>(size * size);
}

std::string_view utf8_of(nb::handle item) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_Check(item.ptr()) ? PyUnicode_AsUTF8AndSize(item.ptr(), &size) : nullptr;
    if (data == nullptr) {
        PyErr_Clear();
        throw nb::type_error("a token is not a string that UTF-8 can hold");
    }
    return {data, static_cast<size_t>(size)};
}

}  // namespace

void bind_engine(nb::module_& m) {
    nb::class_<Engine>(m, "Engine", "A chain model made ready to tag.")
        .def(
            "__init__",
            [](Engine* self, const FeatureMap& map, const Edges& edges, In<float> bias, size_t word_column,
               std::tuple<In<int64_t>, In<int32_t>, In<float>> rows, std::vector<int32_t> rung_functions,
               std::vector<int64_t> rung_bases, std::tuple<In<int64_t>, In<int32_t>, In<float>> linear,
               std::tuple<In<int64_t>, In<int32_t>, In<float>> edge_weights, int64_t first_feature, bool all_labels, float floor) {
                new (self) Engine(
                    map, edges, copy_of(bias), word_column,
                    SparseRows(std::get<0>(rows), std::get<1>(rows), std::get<2>(rows), edges.n_labels, "ladder rows are damaged"),
                    std::move(rung_functions), std::move(rung_bases),
                    SparseRows(std::get<0>(linear), std::get<1>(linear), std::get<2>(linear), edges.n_labels, "weights are damaged"),
                    SparseRows(std::get<0>(edge_weights), std::get<1>(edge_weights), std::get<2>(edge_weights), pair_labels(edges), "edge weights are damaged"),
                    first_feature, all_labels, floor);
            },
            nb::arg("map"), nb::arg("edges"), nb::arg("bias"), nb::arg("word_column"), nb::arg("rows"),
            nb::arg("rung_functions"), nb::arg("rung_bases"), nb::arg("linear"),
            nb::arg("edge_weights"), nb::arg("first_feature"), nb::arg("all_labels"), nb::arg("floor"),
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "tag_columns",
            [](const Engine& engine, const std::vector<ColumnArrays>& columns, In<int64_t> sentences, const ReadyArrays& ready,
               size_t threads) {
                const Batch batch(engine, columns, sentences, ready);
                std::vector<int32_t> best(static_cast<size_t>(sentences(sentences.shape(0) - 1)));
                {
                    nb::gil_scoped_release release;
                    const size_t parts = useful_threads(threads, batch.size());
                    in_parallel(parts, [&](size_t part) {
                        Session session(engine);
                        Translator translator(session, batch);
                        for (size_t s = batch.size() * part / parts; s < batch.size() * (part + 1) / parts; ++s) {
                            const int64_t first = batch.first(s), n = batch.length(s);
                            session.build(translator.sentence(first, n), n, false, batch.ready, first);
                            session.decode(n, best.data() + first);
                        }
                    });
                }
                return to_numpy(std::move(best));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(), nb::arg("threads"),
            "Best label id of each token of a corpus.")
        .def(
            "lattice",
            [](const Engine& engine, const std::vector<ColumnArrays>& columns, In<int64_t> sentences, const ReadyArrays& ready) {
                const Batch batch(engine, columns, sentences, ready);
                std::vector<int64_t> offsets{0};
                std::vector<int32_t> labels;
                std::vector<float> scores;
                std::vector<int64_t> edge_offsets{0};
                std::vector<int32_t> edge_ids;
                {
                    nb::gil_scoped_release release;
                    Session session(engine);
                    Translator translator(session, batch);
                    for (size_t s = 0; s < batch.size(); ++s) {
                        const int64_t first = batch.first(s), n = batch.length(s);
                        session.build(translator.sentence(first, n), n, true, batch.ready, first);
                        const auto shift = static_cast<int64_t>(labels.size());
                        for (size_t i = 1; i < session.offsets.size(); ++i) offsets.push_back(shift + session.offsets[i]);
                        labels.insert(labels.end(), session.labels.begin(), session.labels.end());
                        scores.insert(scores.end(), session.scores.begin(), session.scores.end());
                        const auto edge_shift = static_cast<int64_t>(edge_ids.size());
                        for (size_t i = 1; i < session.edge_offsets.size(); ++i) edge_offsets.push_back(edge_shift + session.edge_offsets[i]);
                        edge_ids.insert(edge_ids.end(), session.edge_ids.begin(), session.edge_ids.end());
                    }
                }
                return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(labels)), to_numpy(std::move(scores)),
                                      to_numpy(std::move(edge_offsets)), to_numpy(std::move(edge_ids)));
            },
            nb::arg("columns"), nb::arg("sentences"), nb::arg("ready").none(),
            "Candidate labels and node scores of each token, and its edge features: (offsets, labels, scores, offsets, ids).")
        .def(
            "tag_words",
            [](const Engine& engine, nb::sequence words, nb::list names) {
                if (engine.map().n_columns() != 1 || names.size() != engine.n_labels())
                    throw nb::value_error("columns or labels do not fit the model");
                Session session(engine);
                std::vector<int32_t> ids, best;
                for (nb::handle word : words) ids.push_back(session.lexicon().id(0, utf8_of(word)));
                const auto n = static_cast<int64_t>(ids.size());
                best.resize(ids.size());
                const int32_t* at[1] = {ids.data()};
                session.build(at, n, false, {}, 0);
                session.decode(n, best.data());
                nb::list out;
                for (const int32_t y : best) out.append(names[static_cast<size_t>(y)]);
                return out;
            },
            nb::arg("words"), nb::arg("names"), "Labels (from `names`, by id) of one sentence of a model that reads one column.")
        .def(
            "tag_text",
            [](const Engine& engine, nb::bytes data, const std::vector<std::string>& labels, std::vector<size_t> positions,
               const std::string& separator, const std::string& comment, size_t threads, int64_t first_line) {
                if (positions.size() != engine.map().n_columns() || labels.size() != engine.n_labels() || separator.size() > 1)
                    throw nb::value_error("columns, labels or separator do not fit the model");
                const std::string_view text(data.c_str(), data.size());
                std::vector<std::string> outs;
                std::vector<int64_t> tokens;
                {
                    nb::gil_scoped_release release;
                    const TextTagger tagger(engine, labels, positions, separator, comment);
                    std::vector<size_t> cuts{0};
                    const size_t parts = useful_threads(threads, text.size());
                    for (size_t part = 1; part < parts; ++part)
                        cuts.push_back(std::max(cuts.back(), after_last_blank_line(text, text.size() * part / parts)));
                    cuts.push_back(text.size());
                    outs.resize(parts);
                    tokens.resize(parts);
                    std::vector<int64_t> lines(parts, first_line);
                    for (size_t part = 1; part < parts; ++part)
                        lines[part] = lines[part - 1] + std::count(text.begin() + cuts[part - 1], text.begin() + cuts[part], '\n');
                    in_parallel(parts, [&](size_t part) {
                        tokens[part] = tagger.run(text.substr(cuts[part], cuts[part + 1] - cuts[part]), outs[part], lines[part]);
                    });
                    for (size_t part = 1; part < parts; ++part) outs[0].append(outs[part]);
                }
                int64_t total = 0;
                for (const int64_t t : tokens) total += t;
                return nb::make_tuple(nb::bytes(outs[0].data(), outs[0].size()), total);
            },
            nb::arg("data"), nb::arg("labels"), nb::arg("positions"), nb::arg("separator"), nb::arg("comment"),
            nb::arg("threads"), nb::arg("first_line"),
            "Column text with the label appended to each line, and the number of tokens.");
}
