// Logarithms of arrays, with the bits of portable_log.
#pragma once
#include <cstddef>

// Replaces numbers, which are 0 or more and finite, by their logarithms.
void logarithms(double* values, size_t n);
