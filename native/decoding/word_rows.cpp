// See word_rows.h.
#include "decoding/word_rows.h"

namespace {

constexpr size_t kMostMixed = 4'000'000;  // labels in the rows that are kept

}  // namespace

WordRows::Row WordRows::of(const Lexicon& lexicon, int32_t word) {
    const auto in = [](const SparseRows& rows, int64_t row) {
        const int64_t a = rows.offsets[row], b = rows.offsets[row + 1];
        return Row{rows.labels.data() + a, rows.labels.data() + b, rows.scores.data() + a};
    };
    if (!engine_.mixes() || engine_.known(word)) return in(engine_.rows(), engine_.row_of(lexicon, word));
    if (mixed_rows_.labels.size() > kMostMixed) {
        mixed_.clear();
        mixed_rows_ = {};
    }
    const auto [place, added] = mixed_.try_emplace(word, static_cast<int64_t>(mixed_rows_.size()));
    if (added) engine_.mix(lexicon, word, p_, mixed_rows_);
    return in(mixed_rows_, place->second);
}

void WordRows::add(const Lexicon& lexicon, int32_t word, float* scores) {
    const Row row = of(lexicon, word);
    for (size_t y = 0; y < engine_.n_labels(); ++y) scores[y] += engine_.floor();
    const float* score = row.scores;
    for (const int32_t* y = row.labels; y != row.end; ++y, ++score) scores[*y] += *score - engine_.floor();
}
