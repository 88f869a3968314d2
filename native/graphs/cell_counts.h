// Counting the cells of tables: how often each combination of states of some variables occurs among rows of data.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

// Columns of states, all of the same length. Every state must be below the size of its variable.
template <typename State>
struct StateColumns {
    std::vector<const State*> columns;
    std::span<const int64_t> sizes;
    size_t rows;
};

// How often each of 256 bytes occurs.
void count_bytes(const uint8_t* bytes, size_t n, int64_t* counts);

// The low bytes of some numbers; returns whether all numbers are from 0 to 255.
bool pack_bytes(const int64_t* numbers, size_t n, uint8_t* bytes);

// Adds the number (or the weight) of the rows of each cell of a table over some variables, in row-major order.
template <typename State>
void count_cells(const StateColumns<State>& data, std::span<const int32_t> variables, const double* weights, double* counts);

// n I(a; b) in nats for all pairs of variables, (variables, variables), with n rows; the diagonal is n H(a).
template <typename State>
std::vector<double> mutual_information(const StateColumns<State>& data, size_t threads);
