// See corpus_features.h.
#include "features/corpus_features.h"

#include <algorithm>

#include "core/parallel.h"

namespace {

// Translates the token ids of each column by `place(column, string) -> id`, skipping strings that no token uses.
template <typename Place>
std::vector<std::vector<int32_t>> translate(const std::vector<StringColumn>& columns, Place place) {
    std::vector<std::vector<int32_t>> out(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto& [ids, strings] = columns[c];
        std::vector<int32_t> placed(strings.size(), -1);
        std::vector<uint8_t> used(strings.size(), 0);
        for (const int32_t id : ids) used[id] = 1;
        for (size_t i = 0; i < strings.size(); ++i)
            if (used[i]) placed[i] = place(c, strings[i]);
        out[c].resize(ids.size());
        for (size_t t = 0; t < ids.size(); ++t) out[c][t] = placed[ids[t]];
    }
    return out;
}

// The value of each string in a function's column, after the boundary values.
std::vector<int32_t> value_table(const Lexicon& lexicon, size_t f) {
    std::vector<int32_t> table(lexicon.size(static_cast<size_t>(lexicon.map().function(f).column)));
    for (size_t i = 0; i < table.size(); ++i) {
        const int32_t v = lexicon.value(f, static_cast<int32_t>(i));
        table[i] = v < 0 ? kAbsent : kBoundaries + v;
    }
    return table;
}

// Features of every template at every token: (T, n), numbered within the template. Templates are independent, so threads can
// share them.
template <typename Feature>
class AllFeatures {
   public:
    AllFeatures(const Lexicon& lexicon, const std::vector<std::vector<int32_t>>& columns, Array<int64_t> sentences,
                Feature feature)
        : map_(lexicon.map()), columns_(columns), sentences_(std::move(sentences)), feature_(feature) {
        for (size_t f = 0; f < map_.n_functions(); ++f) tables_.push_back(value_table(lexicon, f));
    }

    NewMatrix<int32_t> list(size_t threads) const {
        const auto n = static_cast<size_t>(sentences_.back());
        std::vector<int32_t> out(map_.n_templates() * n);
        const size_t parts = useful_threads(threads, map_.n_templates());
        in_parallel(parts, [&](size_t part) {
            for (size_t t = part; t < map_.n_templates(); t += parts) of_template(t, out.data() + t * n);
        });
        return {std::move(out), map_.n_templates(), n};
    }

   private:
    void of_template(size_t t, int32_t* out) const {
        const TemplateAtoms& atoms = map_.atoms(t);
        std::vector<int32_t> values;  // of a sentence, one atom after another
        for (size_t s = 0; s + 1 < sentences_.size(); ++s) {
            const int64_t first = sentences_[s], length = sentences_[s + 1] - first;
            if (atoms.size() == 1) {
                read(atoms[0], first, length, out + first);
                continue;
            }
            values.resize(atoms.size() * static_cast<size_t>(length));
            for (size_t a = 0; a < atoms.size(); ++a)
                read(atoms[a], first, length, values.data() + a * static_cast<size_t>(length));
            join(t, values.data(), length, out + first);
        }
    }

    // Writes the values of an atom at the tokens of a sentence.
    void read(const Atom& atom, int64_t first, int64_t length, int32_t* out) const {
        const auto f = static_cast<size_t>(atom.function);
        const int64_t begin = std::clamp<int64_t>(-atom.offset, 0, length),
                      end = std::clamp<int64_t>(length - atom.offset, begin, length);
        for (int64_t i = 0; i < begin; ++i) out[i] = static_cast<int32_t>(-(i + atom.offset) - 1);
        const int32_t *table = tables_[f].data(), *ids = columns_[static_cast<size_t>(map_.function(f).column)].data() + first;
        for (int64_t i = begin; i < end; ++i) out[i] = table[ids[i + atom.offset]];
        for (int64_t i = end; i < length; ++i) out[i] = static_cast<int32_t>(kMaxOffset + i + atom.offset - length);
    }

    // Writes the features of tuples of values.
    void join(size_t t, const int32_t* values, int64_t length, int32_t* out) const {
        const size_t m = map_.atoms(t).size();
        int32_t tuple[kMaxOffset + 1];
        const auto gather = [&](int64_t i) {
            for (size_t a = 0; a < m; ++a)
                if ((tuple[a] = values[static_cast<int64_t>(a) * length + i]) < 0) return false;
            return true;
        };
        // The table of pairs does not fit in any cache, so prefetch the slots of a sentence before using them.
        for (int64_t i = 0; m == 2 && i < length; ++i)
            if (gather(i)) map_.prefetch(t, tuple);
        for (int64_t i = 0; i < length; ++i) out[i] = gather(i) ? feature_(t, tuple) : kAbsent;
    }

    const FeatureMap& map_;
    const std::vector<std::vector<int32_t>>& columns_;
    Array<int64_t> sentences_;
    Feature feature_;
    std::vector<std::vector<int32_t>> tables_;  // by function
};

void check(const Columns& corpus, const FeatureMap& map) {
    corpus.check();
    require(corpus.columns.size() == map.n_columns(), "wrong number of columns");
}

}  // namespace

void Columns::check() const {
    const size_t n = sentences.size() == 0 ? 0 : static_cast<size_t>(sentences.back());
    check_offsets(sentences, n, "sentence offsets must start at 0 and never decrease");
    for (const auto& [ids, strings] : columns) {
        if (ids.size() != n) throw std::invalid_argument("the length of a column and the sentence offsets disagree");
        check_offsets(strings.offsets, strings.blob.size(), "the strings of a column and their offsets disagree");
        for (const int32_t id : ids)
            if (id < 0 || static_cast<size_t>(id) >= strings.size()) throw std::invalid_argument("string id out of range");
    }
}

CorpusFeatures fit_features(FeatureMap& map, const Columns& corpus, size_t threads) {
    check(corpus, map);
    CorpusFeatures found;
    found.strings = translate(corpus.columns, [&](size_t c, std::string_view s) { return map.add_bare_string(c, s); });
    map.add_values(threads);
    const Lexicon lexicon(map);
    const auto intern = [&](size_t t, const int32_t* values) { return map.intern(t, values); };
    found.features = AllFeatures(lexicon, found.strings, corpus.sentences, intern).list(threads);
    return found;
}

CorpusFeatures find_features(const FeatureMap& map, const Columns& corpus) {
    check(corpus, map);
    CorpusFeatures found;
    Lexicon lexicon(map);
    found.strings = translate(corpus.columns, [&](size_t c, std::string_view s) { return lexicon.id(c, s); });
    const auto find = [&](size_t t, const int32_t* values) { return map.find(t, values); };
    found.features = AllFeatures(lexicon, found.strings, corpus.sentences, find).list(1);
    for (size_t c = 0; c < found.strings.size(); ++c)
        for (int32_t& id : found.strings[c])
            if (!lexicon.is_known(c, id)) id = -1;
    return found;
}
