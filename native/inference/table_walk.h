// A table and a part of it: a table over some of its variables, such as a clique and its separator.
//
//     table(c) *= part(c restricted to the part)          part(s) = sum or maximum of table(c) over the c that restrict to s
//
// Both walk over the table in the order of its cells and need the place of each cell's restriction. Neighbouring axes are merged
// where that place runs on; the last axis is then walked without places if it is long, and else places of a tile of cells are
// kept. A table has `kLanes` numbers in every cell, one for each row of evidence, or one.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

constexpr size_t kLanes = 8;

class TableWalk {
   public:
    // `strides` of the part, by axis of the table, 0 for variables that are not in the part. `tiled` keeps places always.
    TableWalk(std::span<const int64_t> sizes, std::span<const int64_t> strides, bool tiled);
    TableWalk() = default;

    int64_t cells() const { return cells_; }
    bool tiled() const { return !places_.empty(); }
    int64_t tile() const { return tile_; }
    int64_t stride() const { return stride_; }  // along the last axis if not tiled: 0 or 1
    const int32_t* places() const { return places_.data(); }

    // Calls body(cell, place) for the first cell of each tile.
    template <typename Body>
    void each_tile(Body body) const {
        const size_t axes = sizes_.size();
        std::array<int64_t, kMostAxes> digits{};
        int64_t place = 0;
        for (int64_t cell = 0;;) {
            body(cell, place);
            cell += tile_;
            if (cell >= cells_) return;
            for (size_t k = axes; k-- > 0;) {
                place += strides_[k];
                if (++digits[k] < sizes_[k]) break;
                place -= strides_[k] * sizes_[k];
                digits[k] = 0;
            }
        }
    }
    // Calls body(cell, place) for every cell.
    template <typename Body>
    void each_cell(Body body) const {
        each_tile([&](int64_t cell, int64_t place) {
            for (int64_t k = 0; k < tile_; ++k) body(cell + k, place + (tiled() ? places_[k] : k * stride_));
        });
    }

   private:
    static constexpr size_t kMostAxes = 64;

    std::vector<int64_t> sizes_, strides_;  // the axes before the tile
    std::vector<int32_t> places_;
    int64_t tile_ = 1, stride_ = 0, cells_ = 1;
};

// The operations on walks. `lanes` is 1 or kLanes. A `shared` part has one number in every cell for all lanes.
struct Lanes {
    size_t lanes;

    void copy_in(const TableWalk& walk, double* table, const double* part, bool shared) const;
    void multiply_in(const TableWalk& walk, double* table, const double* part, bool shared) const;
    // The part must be zero before.
    void sum_out(const TableWalk& walk, const double* table, double* part) const;
    void max_out(const TableWalk& walk, const double* table, double* part) const;
};

// The same for logarithms, one lane. The part must be minus infinity before.
void log_multiply_in(const TableWalk& walk, double* table, const double* part);
void log_sum_out(const TableWalk& walk, const double* table, double* part, size_t part_cells);
void log_max_out(const TableWalk& walk, const double* table, double* part);
