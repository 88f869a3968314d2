// Sums over long float64 vectors, in an order that does not depend on the number of processors.
#pragma once
#include <span>
#include <vector>

#include "core/array.h"

// Inner products of each row with `v`, then with each row whose index is in `own`. Rows are long, so each is read once for all.
NewMatrix<double> inner_products(const Matrix<double>& rows, std::span<const double> v, const std::vector<size_t>& own);
double inner_product(std::span<const double> a, std::span<const double> b);
// own v + sum over r of shares(r) row(r)
NewArray<double> combination(const Matrix<double>& rows, std::span<const double> shares, std::span<const double> v, double own);

// Functions of each number: e^x for x up to 709, 0 below -708; log x; log(1 + x).
std::vector<double> each_exp(std::span<const double> x);
std::vector<double> each_log(std::span<const double> x);
std::vector<double> each_log1p(std::span<const double> x);
