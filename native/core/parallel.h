// Threads for kernels: parts of one job, and a team of threads for many small jobs.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

// The number of threads to use: at most the number requested, the pieces of work and the processors. Up to eight are always
// allowed, so that tests on small machines use several.
inline size_t useful_threads(size_t requested, size_t pieces) {
    const size_t most = std::max<size_t>(8, std::thread::hardware_concurrency());
    return std::max<size_t>(1, std::min({requested, pieces, most}));
}

// Runs work(part) for each part on its own thread. Part 0 runs on this thread, and so do the parts for which the system cannot
// create a thread. Rethrows the first exception here.
template <typename Work>
void in_parallel(size_t parts, Work work) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failures(parts);
    auto guarded = [&](size_t part) {
        try {
            work(part);
        } catch (...) {
            failures[part] = std::current_exception();
        }
    };
    size_t started = 1;
    try {
        threads.reserve(parts);
        for (; started < parts; ++started) threads.emplace_back(guarded, started);
    } catch (const std::exception&) {
        // The system cannot create more threads: the rest runs here.
    }
    if (parts > 0) guarded(0);
    for (; started < parts; ++started) guarded(started);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

// Threads that wait for work between jobs. run(work) calls work(part, parts) on all of them and returns when all are done.
// There are fewer than requested if the system cannot create more.
class Team {
   public:
    explicit Team(size_t size) : size_(size) {
        threads_.reserve(size);
        try {
            for (size_t part = 1; part < size; ++part) threads_.emplace_back([this, part] { serve(part); });
        } catch (const std::system_error&) {
            size_ = threads_.size() + 1;
        }
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void run(const std::function<void(size_t, size_t)>& work) {
        if (size_ == 1) {
            work(0, 1);
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            work_ = &work;
            left_ = size_ - 1;
            ++job_;
        }
        wake_.notify_all();
        work(0, size_);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return left_ == 0; });
    }

   private:
    void serve(size_t part) {
        size_t seen = 0;
        for (;;) {
            const std::function<void(size_t, size_t)>* work;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return stop_ || job_ != seen; });
                if (stop_) return;
                seen = job_;
                work = work_;
            }
            (*work)(part, size_);
            {
                const std::lock_guard lock(mutex_);
                --left_;
            }
            done_.notify_one();
        }
    }

    size_t size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(size_t, size_t)>* work_ = nullptr;
    size_t left_ = 0, job_ = 0;
    bool stop_ = false;
};
