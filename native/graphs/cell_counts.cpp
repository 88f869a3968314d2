#include "graphs/cell_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/array.h"
#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/vectors.h"

namespace {

// Tables of up to this many cells are counted by comparing all codes with each cell, which vectorises; larger ones by histograms.
constexpr int64_t kFewCells = 32;
constexpr size_t kWidth = 64, kBlock = kWidth * 255;  // 255 comparisons fit a byte

// codes = codes * size + states, in bytes.
CORATE_FOR_EACH_PROCESSOR void append_digit(uint8_t* codes, const uint8_t* states, uint8_t size, size_t n) {
    for (size_t k = 0; k < n; ++k) codes[k] = static_cast<uint8_t>(codes[k] * size + states[k]);
}

// How many of up to kBlock codes are equal to a value.
CORATE_FOR_EACH_PROCESSOR int64_t count_equal(const uint8_t* codes, uint8_t value, size_t n) {
    uint8_t sums[kWidth] = {};
    size_t k = 0;
    for (; k + kWidth <= n; k += kWidth)
        for (size_t l = 0; l < kWidth; ++l) sums[l] = static_cast<uint8_t>(sums[l] + (codes[k + l] == value));
    int64_t found = 0;
    for (const uint8_t sum : sums) found += sum;
    for (; k < n; ++k) found += codes[k] == value;
    return found;
}

// Four histograms, so that equal neighbours do not wait for each other.
void histogram(const uint8_t* codes, size_t n, int64_t* counts) {
    uint32_t parts[4][256] = {};
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t l = 0; l < 4; ++l) ++parts[l][codes[k + l]];
    for (; k < n; ++k) ++parts[0][codes[k]];
    for (size_t v = 0; v < 256; ++v) counts[v] += int64_t{parts[0][v]} + parts[1][v] + parts[2][v] + parts[3][v];
}

void count_small(const StateColumns<uint8_t>& data, std::span<const int32_t> variables, int64_t cells, double* counts) {
    uint8_t codes[kBlock];
    int64_t found[256] = {};
    for (size_t start = 0; start < data.rows(); start += kBlock) {
        const size_t n = std::min(kBlock, data.rows() - start);
        std::memset(codes, 0, n);
        for (const int32_t v : variables)
            append_digit(codes, data.columns[v].data() + start, static_cast<uint8_t>(data.sizes[v]), n);
        if (cells <= kFewCells)
            for (int64_t c = 0; c < cells; ++c) found[c] += count_equal(codes, static_cast<uint8_t>(c), n);
        else
            histogram(codes, n, found);
    }
    for (int64_t c = 0; c < cells; ++c) counts[c] += static_cast<double>(found[c]);
}

// The set bits of two bitmaps that both have.
CORATE_FOR_EACH_PROCESSOR int64_t common_bits(const uint64_t* a, const uint64_t* b, size_t words) {
    int64_t found = 0;
    for (size_t k = 0; k < words; ++k) found += std::popcount(a[k] & b[k]);
    return found;
}

double n_log_n(double n) { return n > 0.0 ? n * portable_log(n) : 0.0; }

// A bitmap of rows for each state of a variable.
template <typename State>
std::vector<uint64_t> bitmaps(const State* states, int64_t size, size_t rows) {
    const size_t words = (rows + 63) / 64;
    std::vector<uint64_t> found(static_cast<size_t>(size) * words, 0);
    for (size_t r = 0; r < rows; ++r) found[static_cast<size_t>(states[r]) * words + r / 64] |= uint64_t{1} << (r % 64);
    return found;
}

// Adds the number (or the weight) of the rows of each cell of a table over some variables, in row-major order.
template <typename State>
void count_cells(const StateColumns<State>& data, std::span<const int32_t> variables, const double* weights, double* counts) {
    int64_t cells = 1;
    for (const int32_t v : variables) cells *= data.sizes[v];
    if constexpr (sizeof(State) == 1)
        if (cells <= 256 && weights == nullptr) return count_small(data, variables, cells, counts);
    constexpr size_t kRows = 2048;
    int64_t codes[kRows];
    for (size_t start = 0; start < data.rows(); start += kRows) {
        const size_t n = std::min(kRows, data.rows() - start);
        std::fill_n(codes, n, 0);
        for (const int32_t v : variables) {
            const State* states = data.columns[v].data() + start;
            const int64_t size = data.sizes[v];
            for (size_t k = 0; k < n; ++k) codes[k] = codes[k] * size + states[k];
        }
        for (size_t k = 0; k < n; ++k) counts[codes[k]] += weights == nullptr ? 1.0 : weights[start + k];
    }
}

}  // namespace

std::vector<int64_t> count_bytes(std::span<const uint8_t> all) {
    const uint8_t* bytes = all.data();
    const size_t n = all.size();
    std::vector<int64_t> counts(256, 0);
    uint8_t top = 0;
    for (size_t k = 0; k < n; ++k) top = std::max(top, bytes[k]);
    for (size_t start = 0; start < n; start += kBlock) {
        const size_t count = std::min(kBlock, n - start);
        if (top < kFewCells)
            for (int64_t c = 0; c <= top; ++c) counts[c] += count_equal(bytes + start, static_cast<uint8_t>(c), count);
        else
            histogram(bytes + start, count, counts.data());
    }
    return counts;
}

// The low bytes of numbers. Returns whether all numbers are from 0 to 255.
CORATE_FOR_EACH_PROCESSOR static bool low_bytes(const int64_t* numbers, size_t n, uint8_t* bytes) {
    uint64_t all = 0;
    for (size_t k = 0; k < n; ++k) {
        all |= static_cast<uint64_t>(numbers[k]);
        bytes[k] = static_cast<uint8_t>(numbers[k]);
    }
    return all < 256;
}

std::optional<std::vector<uint8_t>> pack_bytes(std::span<const int64_t> numbers) {
    std::vector<uint8_t> bytes(numbers.size());
    if (!low_bytes(numbers.data(), bytes.size(), bytes.data())) return std::nullopt;
    return bytes;
}

template <typename State>
void StateColumns<State>::check() const {
    check_sizes(sizes);
    if (columns.size() != sizes.size() || columns.empty()) throw std::invalid_argument("columns and sizes disagree in number");
    for (size_t v = 0; v < columns.size(); ++v) {
        if (columns[v].size() != rows()) throw std::invalid_argument("columns have different lengths");
        State least = 0, most = 0;
        for (const State state : columns[v]) {
            least = std::min(least, state);
            most = std::max(most, state);
        }
        if (least < 0 || (rows() > 0 && int64_t{most} >= sizes[v])) throw std::invalid_argument("a state is out of range");
    }
}

template <typename State>
std::vector<double> count_scopes(const StateColumns<State>& data, std::span<const int64_t> offsets,
                                 std::span<const int32_t> variables, const std::optional<Array<double>>& weights,
                                 size_t threads) {
    data.check();
    require(!weights || weights->size() == data.rows(), "rows and weights disagree in number");
    check_offsets(offsets, variables.size(), "scope offsets and variables disagree");
    for (const int32_t v : variables)
        if (v < 0 || static_cast<size_t>(v) >= data.sizes.size()) throw std::invalid_argument("a scope has an unknown variable");
    const size_t n = offsets.size() - 1;
    const auto scope = [&](size_t i) {
        return variables.subspan(static_cast<size_t>(offsets[i]), static_cast<size_t>(offsets[i + 1] - offsets[i]));
    };
    std::vector<size_t> starts(1, 0);
    for (size_t i = 0; i < n; ++i) {
        double cells = 1.0;
        for (const int32_t v : scope(i)) cells *= static_cast<double>(data.sizes[v]);
        if (cells + static_cast<double>(starts.back()) > 1e12) throw std::invalid_argument("the tables have too many cells");
        starts.push_back(starts.back() + static_cast<size_t>(cells));
    }
    std::vector<double> counts(starts.back(), 0.0);
    const size_t parts = useful_threads(threads, n);
    in_parallel(parts, [&](size_t part) {
        for (size_t i = part; i < n; i += parts)
            count_cells(data, scope(i), weights ? weights->data() : nullptr, counts.data() + starts[i]);
    });
    return counts;
}

template <typename State>
NewMatrix<double> mutual_information(const StateColumns<State>& data, size_t threads) {
    data.check();
    const size_t n = data.columns.size(), words = (data.rows() + 63) / 64;
    constexpr int64_t kMostStates = 16;  // bitmaps are quicker up to here
    std::vector<std::vector<uint64_t>> bits(n);
    std::vector<std::vector<double>> single(n);
    std::vector<double> entropy(n), found(n * n);
    const auto rows = static_cast<double>(data.rows());
    for (size_t v = 0; v < n; ++v) {
        const auto variable = static_cast<int32_t>(v);
        single[v].assign(static_cast<size_t>(data.sizes[v]), 0.0);
        count_cells(data, {&variable, 1}, nullptr, single[v].data());
        if (data.sizes[v] <= kMostStates) bits[v] = bitmaps(data.columns[v].data(), data.sizes[v], data.rows());
        entropy[v] = n_log_n(rows);
        for (const double count : single[v]) entropy[v] -= n_log_n(count);
        found[v * n + v] = entropy[v];
    }
    const size_t parts = useful_threads(threads, n);
    in_parallel(parts, [&](size_t part) {
        std::vector<double> joint;
        for (size_t a = part; a < n; a += parts)
            for (size_t b = a + 1; b < n; ++b) {
                const auto rows_of_table = static_cast<size_t>(data.sizes[a]), columns = static_cast<size_t>(data.sizes[b]);
                joint.assign(rows_of_table * columns, 0.0);
                if (!bits[a].empty() && !bits[b].empty()) {
                    for (size_t x = 0; x < rows_of_table; ++x) {
                        double left = single[a][x];  // the last state of b follows from the others
                        for (size_t y = 0; y + 1 < columns; ++y) {
                            const auto count = static_cast<double>(common_bits(&bits[a][x * words], &bits[b][y * words], words));
                            joint[x * columns + y] = count;
                            left -= count;
                        }
                        joint[x * columns + columns - 1] = left;
                    }
                } else {
                    const int32_t pair[] = {static_cast<int32_t>(a), static_cast<int32_t>(b)};
                    count_cells(data, pair, nullptr, joint.data());
                }
                double value = entropy[a] + entropy[b] - n_log_n(rows);
                for (const double count : joint) value += n_log_n(count);
                found[a * n + b] = found[b * n + a] = std::max(0.0, value);
            }
    });
    return {std::move(found), n, n};
}

template struct StateColumns<uint8_t>;
template struct StateColumns<int32_t>;
template std::vector<double> count_scopes(const StateColumns<uint8_t>&, std::span<const int64_t>, std::span<const int32_t>,
                                          const std::optional<Array<double>>&, size_t);
template std::vector<double> count_scopes(const StateColumns<int32_t>&, std::span<const int64_t>, std::span<const int32_t>,
                                          const std::optional<Array<double>>&, size_t);
template NewMatrix<double> mutual_information(const StateColumns<uint8_t>&, size_t);
template NewMatrix<double> mutual_information(const StateColumns<int32_t>&, size_t);
