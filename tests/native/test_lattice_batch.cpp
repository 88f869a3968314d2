// Tests of chain/lattice_batch.h and decoding/path_answers.h, against all labellings one by one.
#include "chain/lattice_batch.h"

#include <cmath>

#include "check.h"
#include "decoding/path_answers.h"

namespace {

template <typename T>
Array<T> owned(std::vector<T> values) {
    const auto own = std::make_shared<std::vector<T>>(std::move(values));
    return {own->data(), own->size(), own};
}

const Array<int64_t> kSentences = owned<int64_t>({0, 3, 3, 4});  // three tokens, none, one
const Array<float> kScores = owned<float>({0.5f, 1.0f, -0.25f, 0.0f, 2.0f, 0.75f, 0.125f});

// Two labels; the second token can only have label 1.
LatticeBatch some_lattices(const Edges& edges) {
    return LatticeBatch(kSentences, {owned<int64_t>({0, 2, 3, 5, 7}), owned<int32_t>({0, 1, 1, 0, 1, 0, 1})}, kScores, edges,
                        std::nullopt);
}

Edges some_edges() {
    return dense_edges({owned<float>({0.0f, 1.0f, 0.5f, -1.0f, 0.25f, 0.0f, 0.125f, 0.0f, 0.0f}), 3, 3}, false, std::nullopt);
}

// The scores of all labellings of the first sentence, the labels of its second token being fixed.
std::vector<double> all_scores(const Edges& edges) {
    std::vector<double> scores;
    for (int32_t first = 0; first < 2; ++first)
        for (int32_t last = 0; last < 2; ++last)
            scores.push_back(edges.at(2, first) + kScores[static_cast<size_t>(first)] + edges.at(first, 1) + kScores[2] +
                             edges.at(1, last) + kScores[3 + static_cast<size_t>(last)] + edges.at(last, 2));
    return scores;
}

}  // namespace

TEST(lattices_of_a_batch_are_summed_and_decoded) {
    const Edges edges = some_edges();
    const LatticeBatch batch = some_lattices(edges);
    const std::vector<double> scores = all_scores(edges);
    double z = 0.0;
    size_t top = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
        z += std::exp(scores[i]);
        if (scores[i] > scores[top]) top = i;
    }
    for (const size_t threads : {1, 3}) {
        const auto [log_z, p, pairs] = forward_backward(batch, edges, true, threads);
        CHECK(std::abs(log_z[0] - std::log(z)) < 1e-5);
        CHECK(std::abs(p[0] - (std::exp(scores[0]) + std::exp(scores[1])) / z) < 1e-5);
        CHECK(p.size() == 7 && pairs.size() == 4);
        const auto [labels, best] = viterbi(batch, edges, threads);
        CHECK(std::abs(best[0] - scores[top]) < 1e-5);
        CHECK((std::vector<int32_t>(labels.begin(), labels.begin() + 3) ==
               std::vector<int32_t>{static_cast<int32_t>(top / 2), 1, static_cast<int32_t>(top % 2)}));
    }
}

TEST(questions_about_labellings_agree_with_the_sums) {
    const Edges edges = some_edges();
    const PathAnswers paths(some_lattices(edges), edges, std::nullopt, std::nullopt, std::nullopt, 2);
    const NBest all = paths.n_best(10);
    CHECK(all.p[0].size() == 4 && all.labels[0].size() == 12);
    double sum = 0.0;
    for (const double p : all.p[0]) sum += p;
    CHECK(std::abs(sum - 1.0) < 1e-6);
    CHECK(std::abs(all.log_z[0] - std::get<0>(forward_backward(some_lattices(edges), edges, false, 1))[0]) < 1e-5);
    CHECK(std::get<0>(paths.best())[0] == all.labels[0][0]);
    CHECK(paths.sample(2, 7).size() == 8);
}

TEST(lattices_that_do_not_fit_are_refused) {
    const Edges edges = some_edges();
    const auto make = [&](std::vector<int64_t> offsets, std::vector<int32_t> labels) {
        LatticeBatch(kSentences, {owned(std::move(offsets)), owned(std::move(labels))}, kScores, edges, std::nullopt);
    };
    CHECK(throws("a token has no candidate labels", [&] { make({0, 2, 2, 5, 7}, {0, 1, 1, 0, 1, 0, 1}); }));
    CHECK(throws("candidate labels are out of range or out of order", [&] { make({0, 2, 3, 5, 7}, {0, 1, 1, 0, 1, 1, 0}); }));
    CHECK(throws("sentence offsets and node offsets disagree", [&] { make({0, 1, 2, 3, 5, 7}, {0, 1, 1, 0, 1, 0, 1}); }));
    CHECK(throws("node labels and scores disagree", [&] { make({0, 2}, {0, 1}); }));
}
