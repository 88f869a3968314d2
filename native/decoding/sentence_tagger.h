// Tags one sentence at a time, on any number of threads. Work memory is kept between sentences.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "decoding/session.h"
#include "features/attribute_names.h"

// The words of a sentence.
class SentenceWords {
   public:
    void clear();
    void add(std::string_view word);
    size_t size() const { return ends_.size(); }
    size_t n_bytes() const { return text_.size(); }
    // Calls use(word) for each word.
    template <typename Use>
    void each(Use use) const {
        for (size_t i = 0, at = 0; i < ends_.size(); at = ends_[i++]) use(std::string_view(text_.data() + at, ends_[i] - at));
    }

   private:
    std::vector<char> text_;
    std::vector<size_t> ends_;
};

// A sentence as it was read, and its labels.
struct ReadSentence {
    SentenceWords words;
    NamedFeatures features;
    std::vector<int32_t> best;

    // Whether to keep the memory for another sentence.
    bool reusable() const;
};

// Memory to read a sentence into, which the thread keeps. Reading may tag another sentence.
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

// All that is needed to tag a sentence. One thread uses it at a time.
class SentenceWork {
   public:
    explicit SentenceWork(const Engine& engine) : session_(engine) {}

    std::thread::id last;  // the thread that used it last, whose processor has it in its cache

    // Finds the best label of each token, for a model that reads one column of words, ready-made features, or both. `words` is
    // null if there are no words; `names` and `features` are null if there are no features.
    void tag(const SentenceWords* words, const AttributeNames* names, const NamedFeatures* features, std::vector<int32_t>& best);
    // What builds lattices, for sentences that are given otherwise.
    Session& session() { return session_; }
    // Whether to keep the memory for another sentence.
    bool reusable() const;
    // Whether the model's vocabulary has grown, so that the memory must not be used.
    bool outdated() const { return session_.lexicon().outdated(); }

   private:
    Session session_;
    std::vector<int32_t> ids_;
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

   private:
    SentenceTagger& from_;
    std::unique_ptr<SentenceWork> work_;
    int exceptions_ = std::uncaught_exceptions();
};
