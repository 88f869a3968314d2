// Tests of core/parallel.h and core/sum_in_parts.h.
#include "core/parallel.h"

#include <atomic>
#include <stdexcept>

#include "check.h"
#include "core/sum_in_parts.h"

TEST(parts_each_run_once) {
    std::vector<std::atomic<int>> runs(7);
    in_parallel(runs.size(), [&](size_t part) { ++runs[part]; });
    for (const auto& count : runs) CHECK(count == 1);
}

TEST(an_exception_of_a_thread_arrives) {
    CHECK(throws("part 3", [] {
        in_parallel(5, [](size_t part) {
            if (part == 3) throw std::runtime_error("part 3");
        });
    }));
}

TEST(a_team_shares_many_small_jobs) {
    Team team(3);
    std::vector<size_t> sums(3, 0);
    for (size_t job = 0; job < 200; ++job)
        team.run([&](size_t part, size_t parts) {
            for (size_t i = part; i < 10; i += parts) sums[part] += i;
        });
    CHECK(sums[0] + sums[1] + sums[2] == 200 * 45);
}

TEST(sums_are_the_same_for_any_number_of_threads) {
    const auto sum = [](size_t threads) {
        std::vector<double> sums(2);
        const double loss = sum_in_parts(1000, 2, threads, sums.data(), [](size_t begin, size_t end, double* own) {
            double part = 0.0;
            for (size_t i = begin; i < end; ++i) {
                own[i % 2] += 1.0 / static_cast<double>(i + 1);
                part += 1.0 / static_cast<double>(i + 3);
            }
            return part;
        });
        sums.push_back(loss);
        return sums;
    };
    for (const size_t threads : {2, 3, 8}) CHECK(sum(threads) == sum(1));
}
