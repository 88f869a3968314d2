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

void SentenceWords::clear() {
    text_.clear();
    ends_.clear();
}

void SentenceWords::add(std::string_view word) {
    text_.insert(text_.end(), word.begin(), word.end());
    ends_.push_back(text_.size());
}

bool ReadSentence::reusable() const { return words.n_bytes() + features.n_bytes() + 4 * features.n_numbers() < kMostBytes; }

void SentenceWork::tag(const SentenceWords* words, const AttributeNames* names, const NamedFeatures* features,
                       std::vector<int32_t>& best) {
    const size_t n = words != nullptr ? words->size() : features->n_tokens();
    if (features != nullptr && features->n_tokens() != n) throw std::invalid_argument("words and features disagree");
    ids_.clear();
    if (words != nullptr) words->each([&](std::string_view word) { ids_.push_back(session_.lexicon().id(0, word)); });
    found_.clear();
    if (features != nullptr) names->find(*features, arrays_, found_);
    const Attributes ready = found_.view();
    const int32_t* columns[1] = {ids_.data()};
    best.resize(n);
    session_.build(columns, static_cast<int64_t>(n), false, features == nullptr ? nullptr : &ready, 0);
    session_.decode(static_cast<int64_t>(n), best.data());
}

bool SentenceWork::reusable() const {
    return session_.lexicon().n_extra() < kMostWords && session_.labels.size() < kMostCandidates &&
           found_.ids.size() < kMostBytes / sizeof(int32_t);
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
