// Parts of short work that need a lock which all threads share, such as the lock of an interpreter.
//
// Reading a sentence and decoding it take some microseconds each, and a thread that blocks on a lock wakes up much later than
// that. So a thread that has done what needs no lock first waits actively for another thread: while that is in such a part, and
// for the short time in which it comes again.
#pragma once
#include <atomic>
#include <chrono>

class LockedPart {
   public:
    LockedPart() { state_.store(kInside, std::memory_order_relaxed); }
    ~LockedPart() { state_.store(now(), std::memory_order_relaxed); }
    LockedPart(const LockedPart&) = delete;
    LockedPart& operator=(const LockedPart&) = delete;

    // Calls work() while `Released`, which gives up the lock, exists. Waits before the lock is taken again, unless there is none.
    template <typename Released, bool kHasLock = true, typename Work>
    void unlocked(Work work) {
        const Released released;
        state_.store(kFree, std::memory_order_relaxed);
        const Wait again{kHasLock};
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
        bool waits;
        ~Wait() {
            if (waits) wait();
        }
    };
    static State now() { return Clock::now().time_since_epoch().count(); }
    static void wait() {
        State begin = 0;
        for (;;) {
            State state = state_.load(std::memory_order_relaxed);
            if (state == kFree && state_.compare_exchange_strong(state, kInside, std::memory_order_relaxed)) return;
            const State time = now();
            if (begin == 0) begin = time;
            if (time - begin > kLongest.count() || (state > kFree && time - state > kAgain.count())) break;
        }
        state_.store(kInside, std::memory_order_relaxed);
    }
};
