#include "inference/edge_potentials.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/vectors.h"

EdgePotentials::EdgePotentials(const double* table, double weight, size_t k, size_t padded)
    : top(*std::max_element(table, table + k * k) / weight),
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

std::vector<EdgePotentials> potentials_of(const PairwiseField& field, size_t padded) {
    std::vector<EdgePotentials> tables;
    tables.reserve(2 * field.tables.rows());
    for (size_t t = 0; t < field.tables.rows(); ++t)
        for (const double weight : {1.0, field.weights[t]})
            tables.emplace_back(field.tables.row(t), weight, field.n_labels(), padded);
    return tables;
}
