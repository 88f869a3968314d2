// Tags one sentence at a time, on any number of threads. Work memory is kept between sentences.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "decoding/session.h"
#include "features/attribute_names.h"

// A sentence, and all that is needed to tag it. One thread uses it at a time.
class SentenceWork {
   public:
    explicit SentenceWork(const Engine& engine) : session_(engine) {}

    NamedFeatures features;  // to read features into
    std::thread::id last;    // the thread that used it last, whose processor has it in its cache

    void clear_words();
    void add_word(std::string_view word);
    size_t n_words() const { return ends_.size(); }
    // The best label of each token, for a model that reads one column of words, ready-made features, or both. `words` says
    // whether there are words; `names` and `sentence` are null if there are no features.
    const std::vector<int32_t>& tag(bool words, const AttributeNames* names, const NamedFeatures* sentence);
    // What builds lattices, for sentences that are given otherwise.
    Session& session() { return session_; }
    // Whether to keep the memory for another sentence.
    bool reusable() const;
    // Whether the model's vocabulary has grown, so that the memory must not be used.
    bool outdated() const { return session_.lexicon().outdated(); }

   private:
    Session session_;
    std::vector<char> text_;    // the words
    std::vector<size_t> ends_;  // where each ends
    std::vector<int32_t> ids_, best_;
    ArrayIds arrays_;
    FoundFeatures found_;
};

// Lends work memory to threads.
class SentenceTagger {
   public:
    explicit SentenceTagger(const Engine& engine) : engine_(engine) {}

    std::unique_ptr<SentenceWork> borrow();
    void give_back(std::unique_ptr<SentenceWork> work);

   private:
    const Engine& engine_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<SentenceWork>> idle_;
};
