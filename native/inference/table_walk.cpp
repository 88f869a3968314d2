#include "inference/table_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/logarithms.h"
#include "core/vectors.h"

namespace {

constexpr int64_t kLongAxis = 16;       // cells; longer axes need no places
constexpr int64_t kTile = 32;           // cells; shorter tiles take in another axis,
constexpr int64_t kMostTile = 1 << 13;  // but not a very long one

// Kernels of one tile, with one lane. `a` is a run of the part, `at` the places of a tile's cells in the part.

CORATE_FOR_EACH_PROCESSOR void multiply_run(double* table, const double* a, int64_t n) {
    for (int64_t k = 0; k < n; ++k) table[k] *= a[k];
}
CORATE_FOR_EACH_PROCESSOR void scale_run(double* table, double a, int64_t n) {
    for (int64_t k = 0; k < n; ++k) table[k] *= a;
}
CORATE_FOR_EACH_PROCESSOR void multiply_tile(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) table[k] *= a[at[k]];
}
CORATE_FOR_EACH_PROCESSOR void copy_tile(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) table[k] = a[at[k]];
}
CORATE_FOR_EACH_PROCESSOR void add_run(double* a, const double* table, int64_t n) {
    for (int64_t k = 0; k < n; ++k) a[k] += table[k];
}
CORATE_FOR_EACH_PROCESSOR void max_run(double* a, const double* table, int64_t n) {
    for (int64_t k = 0; k < n; ++k) a[k] = a[k] < table[k] ? table[k] : a[k];
}
// The order of additions is fixed, so the sum does not depend on the processor.
CORATE_FOR_EACH_PROCESSOR double sum_run(const double* table, int64_t n) {
    double sums[8] = {};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int64_t l = 0; l < 8; ++l) sums[l] += table[k + l];
    for (; k < n; ++k) sums[0] += table[k];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// The same with kLanes numbers in every cell.

CORATE_FOR_EACH_PROCESSOR void multiply_lanes(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        const double* from = a + static_cast<int64_t>(kLanes) * at[k];
        double* to = table + static_cast<int64_t>(kLanes) * k;
        for (size_t l = 0; l < kLanes; ++l) to[l] *= from[l];
    }
}
CORATE_FOR_EACH_PROCESSOR void multiply_shared(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        double* to = table + static_cast<int64_t>(kLanes) * k;
        const double factor = a[at[k]];
        for (size_t l = 0; l < kLanes; ++l) to[l] *= factor;
    }
}
CORATE_FOR_EACH_PROCESSOR void copy_lanes(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        const double* from = a + static_cast<int64_t>(kLanes) * at[k];
        double* to = table + static_cast<int64_t>(kLanes) * k;
        for (size_t l = 0; l < kLanes; ++l) to[l] = from[l];
    }
}
CORATE_FOR_EACH_PROCESSOR void copy_shared(double* table, const double* a, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        double* to = table + static_cast<int64_t>(kLanes) * k;
        const double value = a[at[k]];
        for (size_t l = 0; l < kLanes; ++l) to[l] = value;
    }
}
CORATE_FOR_EACH_PROCESSOR void add_lanes(double* a, const double* table, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        double* to = a + static_cast<int64_t>(kLanes) * at[k];
        const double* from = table + static_cast<int64_t>(kLanes) * k;
        for (size_t l = 0; l < kLanes; ++l) to[l] += from[l];
    }
}
CORATE_FOR_EACH_PROCESSOR void max_lanes(double* a, const double* table, const int32_t* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        double* to = a + static_cast<int64_t>(kLanes) * at[k];
        const double* from = table + static_cast<int64_t>(kLanes) * k;
        for (size_t l = 0; l < kLanes; ++l) to[l] = to[l] < from[l] ? from[l] : to[l];
    }
}

}  // namespace

TableWalk::TableWalk(std::span<const int64_t> sizes, std::span<const int64_t> strides, bool tiled) {
    for (size_t k = 0; k < sizes.size(); ++k) {
        cells_ *= sizes[k];
        if (sizes[k] == 1) continue;
        if (!sizes_.empty() && strides_.back() == strides[k] * sizes[k]) {
            sizes_.back() *= sizes[k];
            strides_.back() = strides[k];
        } else {
            sizes_.push_back(sizes[k]);
            strides_.push_back(strides[k]);
        }
    }
    if (sizes_.size() > kMostAxes) throw std::invalid_argument("a clique has too many variables");
    if (!tiled && !sizes_.empty() && sizes_.back() >= kLongAxis && strides_.back() <= 1) {
        tile_ = sizes_.back();
        stride_ = strides_.back();
        sizes_.pop_back();
        strides_.pop_back();
        return;
    }
    places_.assign(1, 0);
    while (!sizes_.empty() && tile_ < kTile && (tile_ == 1 || tile_ * sizes_.back() <= kMostTile)) {
        const int64_t n = sizes_.back(), stride = strides_.back();
        if ((n - 1) * stride + places_.back() > std::numeric_limits<int32_t>::max()) break;
        std::vector<int32_t> wider(static_cast<size_t>(n * tile_));
        for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < tile_; ++k) wider[i * tile_ + k] = static_cast<int32_t>(i * stride + places_[k]);
        places_.swap(wider);
        tile_ *= n;
        sizes_.pop_back();
        strides_.pop_back();
    }
}

void Lanes::copy_in(const TableWalk& walk, double* table, const double* part, bool shared) const {
    if (lanes == kLanes) {
        const auto kernel = shared ? copy_shared : copy_lanes;
        const int64_t width = shared ? 1 : static_cast<int64_t>(kLanes);
        walk.each_tile([&](int64_t cell, int64_t place) {
            kernel(table + cell * static_cast<int64_t>(kLanes), part + place * width, walk.places(), walk.tile());
        });
    } else if (walk.tiled()) {
        walk.each_tile([&](int64_t cell, int64_t place) { copy_tile(table + cell, part + place, walk.places(), walk.tile()); });
    } else if (walk.stride() == 1) {
        walk.each_tile([&](int64_t cell, int64_t place) { std::copy_n(part + place, walk.tile(), table + cell); });
    } else {
        walk.each_tile([&](int64_t cell, int64_t place) { std::fill_n(table + cell, walk.tile(), part[place]); });
    }
}

void Lanes::multiply_in(const TableWalk& walk, double* table, const double* part, bool shared) const {
    if (lanes == kLanes) {
        const auto kernel = shared ? multiply_shared : multiply_lanes;
        const int64_t width = shared ? 1 : static_cast<int64_t>(kLanes);
        walk.each_tile([&](int64_t cell, int64_t place) {
            kernel(table + cell * static_cast<int64_t>(kLanes), part + place * width, walk.places(), walk.tile());
        });
    } else if (walk.tiled()) {
        walk.each_tile(
            [&](int64_t cell, int64_t place) { multiply_tile(table + cell, part + place, walk.places(), walk.tile()); });
    } else if (walk.stride() == 1) {
        walk.each_tile([&](int64_t cell, int64_t place) { multiply_run(table + cell, part + place, walk.tile()); });
    } else {
        walk.each_tile([&](int64_t cell, int64_t place) { scale_run(table + cell, part[place], walk.tile()); });
    }
}

void Lanes::sum_out(const TableWalk& walk, const double* table, double* part) const {
    if (lanes == kLanes) {
        walk.each_tile([&](int64_t cell, int64_t place) {
            add_lanes(part + place * static_cast<int64_t>(kLanes), table + cell * static_cast<int64_t>(kLanes), walk.places(),
                      walk.tile());
        });
    } else if (walk.tiled()) {
        walk.each_tile([&](int64_t cell, int64_t place) {
            for (int64_t k = 0; k < walk.tile(); ++k) part[place + walk.places()[k]] += table[cell + k];
        });
    } else if (walk.stride() == 1) {
        walk.each_tile([&](int64_t cell, int64_t place) { add_run(part + place, table + cell, walk.tile()); });
    } else {
        walk.each_tile([&](int64_t cell, int64_t place) { part[place] += sum_run(table + cell, walk.tile()); });
    }
}

void Lanes::max_out(const TableWalk& walk, const double* table, double* part) const {
    if (lanes == kLanes) {
        walk.each_tile([&](int64_t cell, int64_t place) {
            max_lanes(part + place * static_cast<int64_t>(kLanes), table + cell * static_cast<int64_t>(kLanes), walk.places(),
                      walk.tile());
        });
    } else if (!walk.tiled() && walk.stride() == 1) {
        walk.each_tile([&](int64_t cell, int64_t place) { max_run(part + place, table + cell, walk.tile()); });
    } else {
        walk.each_cell([&](int64_t cell, int64_t place) { part[place] = std::max(part[place], table[cell]); });
    }
}

void log_multiply_in(const TableWalk& walk, double* table, const double* part) {
    walk.each_cell([&](int64_t cell, int64_t place) { table[cell] += part[place]; });
}

void log_max_out(const TableWalk& walk, const double* table, double* part) {
    walk.each_cell([&](int64_t cell, int64_t place) { part[place] = std::max(part[place], table[cell]); });
}

void log_sum_out(const TableWalk& walk, const double* table, double* part, size_t part_cells) {
    log_max_out(walk, table, part);
    std::vector<double> sums(part_cells, 0.0);
    walk.each_cell([&](int64_t cell, int64_t place) {
        if (table[cell] > -INFINITY) sums[static_cast<size_t>(place)] += fast_exp(table[cell] - part[place]);
    });
    for (size_t s = 0; s < part_cells; ++s)
        if (sums[s] > 0.0) part[s] += portable_log(sums[s]);
}
