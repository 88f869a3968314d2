// Sums over long float64 vectors, in an order that does not depend on the number of processors.
#pragma once
#include <vector>

#include "core/array.h"

// out(k, r) = the inner product of vector k and row r. Rows are long, so each is read once for all vectors.
void inner_products(const Matrix<double>& rows, const std::vector<const double*>& vectors, double* out);
// out = own v + sum over r of shares(r) row(r); `out` has the length of a row.
void combination(const Matrix<double>& rows, const double* shares, const double* v, double own, double* out);
