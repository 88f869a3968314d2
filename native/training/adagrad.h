// Steps of AdaGrad: G += g^2;  W -= rate g / sqrt(G).
#pragma once
#include <cmath>

struct AdaGrad {
    float rate;

    // `state` holds a weight W and the sum G of its squared gradients.
    void operator()(float* state, float gradient, float factor) const {
        state[1] += gradient * gradient;
        state[0] -= factor * rate * gradient / std::sqrt(state[1]);
    }
};
