// See sentence_tagger.h.
#include "decoding/sentence_tagger.h"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace {

// Memory is not kept after more unknown words, or larger sentences, than this.
constexpr size_t kMostWords = 20'000;
constexpr size_t kMostBytes = 10'000'000;
constexpr size_t kMostCandidates = 1'000'000;

}  // namespace

void SentenceWork::clear_words() {
    text_.clear();
    ends_.clear();
}

void SentenceWork::add_word(std::string_view word) {
    text_.insert(text_.end(), word.begin(), word.end());
    ends_.push_back(text_.size());
}

const std::vector<int32_t>& SentenceWork::tag(bool words, const AttributeNames* names, const NamedFeatures* sentence) {
    const size_t n = words ? ends_.size() : sentence->n_tokens();
    if (sentence != nullptr && sentence->n_tokens() != n) throw std::invalid_argument("words and features disagree");
    ids_.clear();
    for (size_t i = 0, at = 0; words && i < n; at = ends_[i++])
        ids_.push_back(session_.lexicon().id(0, {text_.data() + at, ends_[i] - at}));
    found_.clear();
    if (sentence != nullptr) names->find(*sentence, arrays_, found_);
    const Attributes ready = found_.view();
    const int32_t* columns[1] = {ids_.data()};
    best_.resize(n);
    session_.build(columns, static_cast<int64_t>(n), false, sentence == nullptr ? nullptr : &ready, 0);
    session_.decode(static_cast<int64_t>(n), best_.data());
    return best_;
}

bool SentenceWork::reusable() const {
    const size_t bytes = text_.size() + features.n_bytes() + 4 * features.n_numbers();
    return session_.lexicon().n_extra() < kMostWords && session_.labels.size() < kMostCandidates && bytes < kMostBytes;
}

std::unique_ptr<SentenceWork> SentenceTagger::borrow() {
    const std::lock_guard lock(mutex_);
    std::erase_if(idle_, [](const auto& work) { return work->outdated(); });
    if (idle_.empty()) return std::make_unique<SentenceWork>(engine_);
    const auto own = [](const auto& work) { return work->last == std::this_thread::get_id(); };
    if (const auto mine = std::find_if(idle_.begin(), idle_.end(), own); mine != idle_.end()) std::swap(*mine, idle_.back());
    std::unique_ptr<SentenceWork> work = std::move(idle_.back());
    idle_.pop_back();
    return work;
}

void SentenceTagger::give_back(std::unique_ptr<SentenceWork> work) {
    if (!work->reusable()) return;
    work->last = std::this_thread::get_id();
    const std::lock_guard lock(mutex_);
    try {
        idle_.push_back(std::move(work));
    } catch (const std::bad_alloc&) {
        // There is no memory to keep it.
    }
}
