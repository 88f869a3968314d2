#include "inference/edge_potentials.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/vectors.h"

EdgePotentials::EdgePotentials(const double* table, double weight, size_t k, size_t padded)
    : labels(k),
      top(*std::max_element(table, table + k * k) / weight),
      spread(0.0),
      tied(k > 2),
      weight(weight),
      scores(table, table + k * k),
      from_left(k * padded),
      from_right(k * padded) {
    if (top == -INFINITY) throw std::invalid_argument("a table forbids all pairs of labels");
    for (double& score : scores) score /= weight;
    std::vector<double> values(scores);
    for (double& value : values) value -= top;
    for (size_t c = 0; c < k * k; ++c) {
        hard |= values[c] == -INFINITY;
        if (values[c] > -INFINITY) spread = std::max(spread, -values[c]);
        tied &= values[c] == values[c / k == c % k ? 0 : 1];
    }
    exponentiate(values.data(), values.size());
    for (size_t a = 0; a < k; ++a)
        for (size_t b = 0; b < k; ++b)
            from_left[a * padded + b] = from_right[b * padded + a] = table[a * k + b] == -INFINITY ? 0.0 : values[a * k + b];
}

void EdgePotentials::multiply(const std::vector<double>& cavity, bool left, bool maximum, std::vector<double>& out) const {
    if (!tied) {
        const std::vector<double>& table = left ? from_left : from_right;
        const size_t padded = table.size() / labels;
        std::fill_n(out.begin(), padded, 0.0);
        for (size_t a = 0; a < labels; ++a) {
            const double* row = table.data() + a * padded;
            for (size_t b = 0; b < padded; ++b)
                out[b] = maximum ? std::max(out[b], cavity[a] * row[b]) : out[b] + cavity[a] * row[b];
        }
    } else if (maximum) {
        // The largest number of the others is the largest or, where that is the label's own, the second.
        double first = 0.0, second = 0.0;
        for (size_t a = 0; a < labels; ++a) {
            second = std::max(second, std::min(first, cavity[a]));
            first = std::max(first, cavity[a]);
        }
        const auto at =
            static_cast<size_t>(std::max_element(cavity.begin(), cavity.begin() + static_cast<int64_t>(labels)) - cavity.begin());
        for (size_t b = 0; b < labels; ++b)
            out[b] = std::max(from_left[0] * cavity[b], from_left[1] * (b == at ? second : first));
    } else {
        // Sums of the others from both sides: a difference from the sum of all would lose digits.
        double before = 0.0, after = 0.0;
        for (size_t b = 0; b < labels; ++b) {
            out[b] = before;
            before += cavity[b];
        }
        for (size_t b = labels; b-- > 0;) {
            out[b] = from_left[0] * cavity[b] + from_left[1] * (out[b] + after);
            after += cavity[b];
        }
    }
}

std::vector<EdgePotentials> potentials_of(const PairwiseField& field, size_t padded) {
    std::vector<EdgePotentials> tables;
    tables.reserve(2 * field.tables.rows());
    for (size_t t = 0; t < field.tables.rows(); ++t)
        for (const double weight : {1.0, field.weights[t]})
            tables.emplace_back(field.tables.row(t), weight, field.n_labels(), padded);
    return tables;
}
