// Tests of core/locked_part.h.
#include "core/locked_part.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::mutex lock;
bool taken = false;  // by the thread that runs

struct Taken {
    Taken() { lock.lock(), taken = true; }
    ~Taken() { taken = false, lock.unlock(); }
};
struct Released {
    Released() { taken = false, lock.unlock(); }
    ~Released() { lock.lock(), taken = true; }
};

}  // namespace

TEST(threads_take_turns_with_the_lock) {
    int inside = 0, most = 0, calls = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int call = 0; call < 500; ++call) {
                const Taken guard;
                LockedPart part;
                most = std::max(most, ++inside);
                ++calls;
                --inside;
                part.unlocked<Released>([] {});
                most = std::max(most, ++inside);
                --inside;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(most == 1);
    CHECK(calls == 2000);
}

TEST(a_thread_alone_does_not_wait_for_ever) {
    const Taken guard;
    LockedPart other;  // never ends while the next one waits
    LockedPart part;
    bool worked = false;
    part.unlocked<Released>([&] { worked = !taken; });
    CHECK(worked);
}

TEST(the_lock_is_taken_again_after_an_exception) {
    const Taken guard;
    LockedPart part;
    CHECK(throws("no", [&] { part.unlocked<Released>([] { throw std::runtime_error("no"); }); }));
    CHECK(taken);
}
