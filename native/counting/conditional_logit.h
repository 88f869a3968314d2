// The conditional logit that weights experts. For the kernels see core/vectors.h.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/logarithms.h"
#include "core/vectors.h"

// The conditional logit of tokens: the label of a token has probability softmax(x w + b) among its candidates.
//
//     loss = -sum log P(gold),   gradient = sum E[z] - z(gold),   Hessian = sum E[(z - E z)(z - E z)'],   z = (x, label)
class ConditionalLogit {
   public:
    ConditionalLogit(size_t experts, size_t n_labels)
        : gradient(experts + n_labels, 0.0),
          hessian((experts + n_labels) * (experts + n_labels), 0.0),
          E_(experts),
          D_(experts + n_labels),
          padded_((experts + 7) / 8 * 8),
          squares_(padded_ * padded_, 0.0),
          rows_(kRows * padded_, 0.0),
          with_labels_(n_labels * experts, 0.0),
          mean_(experts) {}

    double loss = 0.0;
    std::vector<double> gradient, hessian;

    // Adds one token: the evidence and labels of its candidates, and the index of the gold one.
    void add(const float* x, const int32_t* labels, size_t width, size_t gold, const double* theta) {
        loss += probabilities(x, labels, width, gold, theta);
        std::fill(mean_.begin(), mean_.end(), 0.0);
        for (size_t c = 0; c < width; ++c) add_scaled(mean_.data(), p_[c], x + c * E_, E_);
        const float* gold_evidence = x + gold * E_;
        for (size_t e = 0; e < E_; ++e) gradient[e] += mean_[e] - gold_evidence[e];
        for (size_t c = 0; c < width; ++c) gradient[label(labels[c])] += p_[c] - (c == gold ? 1.0 : 0.0);
        for (size_t c = 0; c < width; ++c)
            if (p_[c] >= kNegligible) add_curvature(x, labels, width, c);
    }

    // Completes the Hessian from its parts.
    void finish() {
        flush();
        for (size_t a = 0; a < E_; ++a)
            for (size_t b = a; b < D_; ++b)
                hessian[a * D_ + b] = b < E_ ? squares_[a * padded_ + b] : with_labels_[(b - E_) * E_ + a];
        for (size_t a = 0; a < E_; ++a)
            for (size_t b = a + 1; b < D_; ++b) hessian[b * D_ + a] = hessian[a * D_ + b];
    }

   private:
    static constexpr double kNegligible = 1e-4;
    static constexpr size_t kRows = 64;  // number of rows whose outer products are summed together

    size_t label(int32_t y) const { return E_ + static_cast<size_t>(y); }

    // Fills p_ with the probabilities of the candidates. Returns -log P(gold).
    double probabilities(const float* x, const int32_t* labels, size_t width, size_t gold, const double* theta) {
        p_.resize(width);
        for (size_t c = 0; c < width; ++c) p_[c] = theta[label(labels[c])] + dot(theta, x + c * E_, E_);
        const double top = *std::max_element(p_.begin(), p_.end()), score = p_[gold] - top;
        double z = 0.0;
        for (double& value : p_) value -= top;
        exponentiate(p_.data(), width);
        for (const double value : p_) z += value;
        for (double& value : p_) value /= z;
        return portable_log(z) - score;
    }

    void add_curvature(const float* x, const int32_t* labels, size_t width, size_t c) {
        const double root = std::sqrt(p_[c]);
        double* row = rows_.data() + n_rows_ * padded_;
        const size_t y = label(labels[c]);
        for (size_t e = 0; e < E_; ++e) row[e] = root * (x[c * E_ + e] - mean_[e]);
        for (size_t e = 0; e < E_; ++e) with_labels_[static_cast<size_t>(labels[c]) * E_ + e] += root * row[e];
        if (++n_rows_ == kRows) flush();
        hessian[y * D_ + y] += p_[c];
        for (size_t d = 0; d < width; ++d) hessian[y * D_ + label(labels[d])] -= p_[c] * p_[d];
    }

    void flush() {
        add_outer_products(squares_.data(), rows_.data(), n_rows_, padded_);
        n_rows_ = 0;
    }

    size_t E_, D_, padded_, n_rows_ = 0;
    std::vector<double> squares_, rows_, with_labels_, mean_, p_;
};
