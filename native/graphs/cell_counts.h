// Counting the cells of tables: how often each combination of states of some variables occurs among rows of data.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/array.h"

// Columns of states, all of the same length.
template <typename State>
struct StateColumns {
    std::vector<Array<State>> columns;
    Array<int64_t> sizes;

    size_t rows() const { return columns[0].size(); }
    // Raises std::invalid_argument unless every state is below the size of its variable, and the columns have one length.
    void check() const;
};

// How often each of 256 bytes occurs.
std::vector<int64_t> count_bytes(std::span<const uint8_t> bytes);

// The numbers as bytes, nothing if one is not from 0 to 255.
std::optional<std::vector<uint8_t>> pack_bytes(std::span<const int64_t> numbers);

// The number (or the weight) of the rows of each cell of the tables of some scopes, one after the other, each row-major. Scope i has
// variables[offsets[i] .. offsets[i + 1]). No weights: all are 1.
template <typename State>
std::vector<double> count_scopes(const StateColumns<State>& data, std::span<const int64_t> offsets,
                                 std::span<const int32_t> variables, const std::optional<Array<double>>& weights, size_t threads);

// n I(a; b) in nats for all pairs of variables, (variables, variables), with n rows; the diagonal is n H(a).
template <typename State>
NewMatrix<double> mutual_information(const StateColumns<State>& data, size_t threads);
