// See best.h.
#include "chain/shapes/best.h"

#include <limits>

#include "core/vectors.h"

namespace {

template <typename Real>
CORATE_INLINE void best_step_of(const Real* before, size_t states, const Real* edges, size_t apart, size_t groups,
                                const Real* node, size_t width, Real* alpha, int32_t* back) {
    std::fill(alpha, alpha + groups * width, -std::numeric_limits<Real>::infinity());
    std::fill(back, back + groups * width, 0);
    for (size_t i = 0, g = 0; i < states; ++i, edges += apart, g = g + 1 == groups ? 0 : g + 1) {
        const Real a = before[i];
        Real* to = alpha + g * width;
        int32_t* from = back + g * width;
        for (size_t l = 0; l < width; ++l) {
            const Real value = a + edges[l];
            const bool better = value > to[l];
            to[l] = better ? value : to[l];
            from[l] = better ? static_cast<int32_t>(i) : from[l];
        }
    }
    for (size_t l = 0; l < groups * width; ++l) alpha[l] += node[l];
}

}  // namespace

CORATE_FOR_EACH_PROCESSOR
void best_step(const float* before, size_t states, const float* edges, size_t apart, size_t groups, const float* node,
               size_t width, float* alpha, int32_t* back) {
    best_step_of(before, states, edges, apart, groups, node, width, alpha, back);
}

CORATE_FOR_EACH_PROCESSOR
void best_step(const double* before, size_t states, const double* edges, size_t apart, size_t groups, const double* node,
               size_t width, double* alpha, int32_t* back) {
    best_step_of(before, states, edges, apart, groups, node, width, alpha, back);
}
