// See batch.h.
#include "decoding/batch.h"

#include <stdexcept>

#include "core/parallel.h"

namespace {

// Translates string ids of a batch into string ids of a session, each when it first occurs.
class Translator {
   public:
    Translator(Session& session, const Batch& batch)
        : session_(session), batch_(batch), placed_(batch.corpus.columns.size()), ids_(placed_.size()) {
        for (size_t c = 0; c < placed_.size(); ++c) placed_[c].assign(batch.corpus.columns[c].strings.size(), -1);
        at_.resize(placed_.size());
    }
    const int32_t* const* sentence(int64_t first, int64_t n) {
        for (size_t c = 0; c < placed_.size(); ++c) {
            const auto& [ids, strings] = batch_.corpus.columns[c];
            ids_[c].resize(static_cast<size_t>(n));
            for (int64_t i = 0; i < n; ++i)
                if (const int32_t s = ids[first + i]; placed_[c][s] < 0) session_.lexicon().prefetch_id(c, strings[s]);
            for (int64_t i = 0; i < n; ++i) {
                const int32_t s = ids[first + i];
                int32_t& place = placed_[c][s];
                if (place < 0) place = session_.lexicon().id(c, strings[s]);
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

// Appends the offsets of one sentence, shifted to follow the previous sentences.
void append_shifted(const std::vector<int64_t>& own, int64_t shift, std::vector<int64_t>& all) {
    for (size_t i = 1; i < own.size(); ++i) all.push_back(shift + own[i]);
}

// Appends a lattice, of a session or of other sentences.
template <typename Lattice>
void append(const Lattice& own, BatchLattice& all) {
    append_shifted(own.offsets, static_cast<int64_t>(all.labels.size()), all.offsets);
    all.labels.insert(all.labels.end(), own.labels.begin(), own.labels.end());
    all.scores.insert(all.scores.end(), own.scores.begin(), own.scores.end());
    append_shifted(own.edge_offsets, static_cast<int64_t>(all.edge_ids.size()), all.edge_offsets);
    all.edge_ids.insert(all.edge_ids.end(), own.edge_ids.begin(), own.edge_ids.end());
}

// Calls use(part, session, s) for each sentence, after the session has built its lattice. Each part has its own thread.
template <typename Use>
void each_built(const Engine& engine, const Batch& batch, size_t parts, Session& kept, bool keep_scores, Use use) {
    in_parallel(parts, [&](size_t part) {
        std::optional<Session> own;
        Session& session = part == 0 ? kept : own.emplace(engine);
        Translator translator(session, batch);
        for (size_t s = batch.size() * part / parts; s < batch.size() * (part + 1) / parts; ++s) {
            const int64_t first = batch.first(s), n = batch.length(s);
            session.build(translator.sentence(first, n), n, keep_scores, batch.ready ? &*batch.ready : nullptr, first,
                          batch.more ? &*batch.more : nullptr);
            use(part, session, s);
        }
    });
}

}  // namespace

void Batch::check(const Engine& engine) const {
    corpus.check();
    if (corpus.columns.size() != engine.map().n_columns()) throw std::invalid_argument("wrong number of columns");
    const size_t n = corpus.n_tokens();
    if (more) {
        if (more->offsets.size() != n + 1) throw std::invalid_argument("candidates and sentence offsets disagree");
        check_offsets(more->offsets, more->ids.size(), "candidates and sentence offsets disagree");
        check_labels(more->ids, engine.n_labels());
    }
    if (!ready && corpus.columns.empty() && n > 0)
        throw std::invalid_argument("tokens are without columns and without ready-made features");
    if (!ready) return;
    const auto& [offsets, ids] = ready->ids;
    if (offsets.size() != n + 1) throw std::invalid_argument("feature offsets and sentence offsets disagree");
    check_offsets(offsets, ids.size(), "feature offsets and features disagree");
    for (const int32_t f : ids)
        if (f >= engine.n_weighted()) throw std::invalid_argument("feature id out of range");
    if (ready->values && ready->values->size() != ids.size()) throw std::invalid_argument("feature ids and values disagree");
}

std::vector<int32_t> tag(const Engine& engine, const Batch& batch, size_t threads, Session& kept) {
    std::vector<int32_t> best(batch.corpus.n_tokens());
    each_built(engine, batch, useful_threads(threads, batch.size()), kept, false,
               [&](size_t, Session& session, size_t s) { session.decode(batch.length(s), best.data() + batch.first(s)); });
    return best;
}

BatchLattice lattice(const Engine& engine, const Batch& batch, size_t threads, Session& kept) {
    const size_t parts = useful_threads(threads, batch.size());
    std::vector<BatchLattice> found(parts);
    if (engine.all_labels()) {  // otherwise the number of candidates is not known yet
        found[0].labels.reserve(batch.corpus.n_tokens() * engine.n_labels());
        found[0].scores.reserve(batch.corpus.n_tokens() * engine.n_labels());
    }
    each_built(engine, batch, parts, kept, true, [&](size_t part, Session& session, size_t) { append(session, found[part]); });
    for (size_t part = 1; part < parts; ++part) append(found[part], found[0]);
    return std::move(found[0]);
}
