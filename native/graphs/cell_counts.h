// Counting the cells of tables: how often each combination of states of some variables occurs among rows of data.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

// Columns of states, all of the same length.
template <typename State>
struct StateColumns {
    std::vector<std::span<const State>> columns;
    std::span<const int64_t> sizes;

    size_t rows() const { return columns[0].size(); }
    // Raises std::invalid_argument unless every state is below the size of its variable, and the columns have one length.
    void check() const;
};

// How often each of 256 bytes occurs.
void count_bytes(const uint8_t* bytes, size_t n, int64_t* counts);

// The low bytes of some numbers; returns whether all numbers are from 0 to 255.
bool pack_bytes(const int64_t* numbers, size_t n, uint8_t* bytes);

// The number (or the weight) of the rows of each cell of the tables of some scopes, one after the other, each row-major. Scope i has
// variables[offsets[i] .. offsets[i + 1]). No weights: all are 1.
template <typename State>
std::vector<double> count_scopes(const StateColumns<State>& data, std::span<const int64_t> offsets,
                                 std::span<const int32_t> variables, std::span<const double> weights, size_t threads);

// n I(a; b) in nats for all pairs of variables, (variables, variables), with n rows; the diagonal is n H(a).
template <typename State>
std::vector<double> mutual_information(const StateColumns<State>& data, size_t threads);
