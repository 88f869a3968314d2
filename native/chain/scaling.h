// The sums by which forward-backward in float64 scales its alphas. See forward_backward.cpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/logarithms.h"

constexpr size_t kMostPotentials = 4'000'000;  // of the edges of a sentence

class Scaling {
   public:
    // The sum of the alphas of the next position before they are scaled.
    double sum(const double* alpha, size_t n) {
        double sum = 0.0, least = INFINITY;
        for (size_t l = 0; l < n; ++l) {
            sum += alpha[l];
            least = std::min(least, alpha[l]);
        }
        lost_ += least < kTiny ? kTiny * static_cast<double>(n) : 0.0;
        return scale(sum);
    }
    // Scales by a sum to which alphas that lost their digits do not belong.
    double scale(double sum) {
        lost_ /= sum;
        log_product_ += portable_log(sum);
        return sum;
    }
    // False if the alphas that lost their digits are not negligible.
    bool reliable() const { return lost_ < kNegligible; }
    // The sum of the logarithms of all sums.
    double log_product() const { return log_product_; }

   private:
    static constexpr double kTiny = 1e-290, kNegligible = 1e-13;
    double lost_ = 0.0;  // at most this share of the paths may be missing in alpha
    double log_product_ = 0.0;
};
