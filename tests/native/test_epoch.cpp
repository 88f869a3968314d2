// Tests of training/epoch.h: the loop takes any loss, penalty and step.
#include "training/epoch.h"

#include "check.h"
#include "training/adagrad.h"
#include "training/losses/merged_contexts.h"

namespace {

// The sum over items of (W(item modulo 3) - item)^2 / 2.
struct Squares {
    struct Batch {
        std::span<const int64_t> items;
        std::vector<float> residuals;
        std::vector<double> losses;
    };
    static constexpr const char* kNoItem = "no such number";
    size_t size() const { return 3; }
    size_t n_items() const { return 12; }
    size_t n_groups() const { return 3; }
    double add_losses(double loss, std::span<const int64_t> items, const float* state, Batch& batch, Team& team) const {
        batch.items = items;
        batch.residuals.resize(items.size());
        return add_in_order(loss, items.size(), batch.losses, team, [&](size_t i, size_t) {
            batch.residuals[i] = state[2 * (items[i] % 3)] - static_cast<float>(items[i]);
            return 0.5 * batch.residuals[i] * batch.residuals[i];
        });
    }
    template <typename Use>
    void each_step(const Batch& batch, size_t part, size_t parts, Use use) const {
        for (size_t i = 0; i < batch.items.size(); ++i) {
            const auto at = static_cast<size_t>(batch.items[i] % 3);
            if (at % parts == part) use(at, Share{at}, batch.residuals[i]);
        }
    }
};

// Gradient descent, and a penalty of one group only: what another optimiser and another penalty are.
struct Descent {
    float rate;
    void operator()(float* state, float gradient, float factor) const { state[0] -= factor * rate * gradient; }
};
struct OneGroup {
    std::vector<float> of;
    float gradient(const Share& share, float weight) const { return share.group == 1 ? of[1] * weight : 0.0f; }
};

const std::vector<int64_t> kOrder{3, 7, 11, 0, 2, 5, 6, 1, 10, 4, 9, 8};

}  // namespace

TEST(an_epoch_makes_a_step_for_each_weight_of_each_item) {
    std::vector<float> state{0, 1, 0, 1, 0, 1};
    const std::vector<float> decay(3, 0.0f);
    const std::vector<int64_t> order{3, 4};
    CHECK(run_epoch(Squares(), state, order, L2Shares{decay}, Descent{0.5f}, 1, 1) == 0.5 * (9 + 16));
    CHECK((state == std::vector<float>{1.5f, 1, 2, 1, 0, 1}));
}

TEST(epochs_are_the_same_for_any_number_of_threads) {
    const std::vector<float> decay(3, 0.25f);
    const auto run = [&](size_t threads) {
        std::vector<float> state{0, 1, 0, 1, 0, 1};
        const double loss = run_epoch(Squares(), state, kOrder, L2Shares{decay}, AdaGrad{0.3f}, 5, threads);
        state.push_back(static_cast<float>(loss));
        return state;
    };
    for (const size_t threads : {2, 3, 5}) CHECK(run(threads) == run(1));
}

TEST(a_penalty_may_differ_by_group) {
    std::vector<float> state{8, 0, 8, 0, 8, 0};
    for (int pass = 0; pass < 400; ++pass) run_epoch(Squares(), state, kOrder, OneGroup{{0, 5.5f, 0}}, Descent{0.01f}, 1, 1);
    CHECK(std::abs(state[0] - 4.5f) < 0.1f);         // the mean of 0, 3, 6, 9
    CHECK(std::abs(state[2] - 5.5f / 6.5f) < 0.1f);  // the mean of 1, 4, 7, 10, drawn to 0
    CHECK(std::abs(state[4] - 6.5f) < 0.1f);
}

TEST(arrays_that_do_not_fit_are_refused) {
    std::vector<float> state(6), short_state(5);
    const std::vector<float> decay(3), short_decay(2);
    const std::vector<int64_t> wrong{12};
    const auto run = [](std::vector<float>& s, const std::vector<int64_t>& order, const std::vector<float>& d) {
        run_epoch(Squares(), s, order, L2Shares{d}, AdaGrad{0.1f}, 4, 1);
    };
    CHECK(throws("no such number", [&] { run(state, wrong, decay); }));
    CHECK(throws("weights and slots disagree in number", [&] { run(short_state, kOrder, decay); }));
    CHECK(throws("decay and features disagree", [&] { run(state, kOrder, short_decay); }));
}

TEST(the_penalty_leaves_out_weights_that_are_not_trained) {
    const std::vector<double> weights{1, 2, 3, 4};
    const std::vector<uint8_t> trained{1, 0};
    std::vector<double> gradient{1, 1, 1, 1};
    CHECK(L2{2.0}.add(weights.data(), gradient.data(), 4, 2, trained.data()) == 1 + 9 + 16);
    CHECK((gradient == std::vector<double>{3, 0, 7, 9}));
}

TEST(contexts_are_merged_with_their_counts) {
    const std::vector<int> contexts{5, 6, 5, 7, 5};
    const std::vector<size_t> outcomes{2, 0, 0, 0, 2};
    const EqualItems classes = equal_items(
        contexts.size(), [&](size_t i) { return combined(0, static_cast<uint64_t>(contexts[i])); },
        [&](size_t a, size_t b) { return contexts[a] == contexts[b]; });
    const MergedContexts merged = merge_contexts(
        classes, [&](size_t i) { return contexts[i] == 6 ? size_t{1} : size_t{3}; },
        [&](size_t i, auto add) { add(outcomes[i], 1.5); });
    CHECK((merged.contexts == std::vector<size_t>{0, 3}));  // 6 has one possible outcome
    CHECK((merged.offsets == std::vector<size_t>{0, 2, 3}));
    CHECK((merged.outcomes == std::vector<size_t>{0, 2, 0}));
    CHECK((merged.counts == std::vector<double>{1.5, 3.0, 1.5}));
    CHECK((merged.totals == std::vector<double>{4.5, 1.5}));
}
