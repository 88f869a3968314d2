// The solution of a positive definite system, with the same bits on every processor.
//
//     A = U' U,   U upper triangular;   U' z = b,   U x = z
//
// U is found in panels of rows: U_kk' U_kk = A_kk,  U_kj = U_kk'^-1 A_kj,  then A_ij -= U_ki' U_kj for all i, j beyond the panel.
#pragma once
#include <optional>
#include <vector>

#include "core/array.h"

// Solves A x = b; reads only the upper triangle of A. Nothing if A is not positive definite.
std::optional<std::vector<double>> solve_positive_definite(const Matrix<double>& a, const Array<double>& b);
