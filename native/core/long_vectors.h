// Sums over long float64 vectors, in an order that does not depend on the number of processors.
#pragma once
#include <vector>

#include "core/array.h"

// Inner products of each row with `v`, then with each row whose index is in `own`. Rows are long, so each is read once for all.
std::vector<double> inner_products(const Matrix<double>& rows, const double* v, const std::vector<size_t>& own);
// out = own v + sum over r of shares(r) row(r); `out` has the length of a row.
void combination(const Matrix<double>& rows, const double* shares, const double* v, double own, double* out);
