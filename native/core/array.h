// Arrays that Python owns, for kernels: pointer, size, and shared ownership of the memory, so that a kernel may keep one. A bad
// argument raises std::invalid_argument, which is a ValueError in Python.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

template <typename T>
class Array {
   public:
    Array() = default;
    Array(const T* data, size_t size, std::shared_ptr<const void> owner = nullptr)
        : data_(data), size_(size), owner_(std::move(owner)) {}

    size_t size() const { return size_; }
    const T* data() const { return data_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    const T& operator[](size_t i) const { return data_[i]; }
    const T& back() const { return data_[size_ - 1]; }
    operator std::span<const T>() const { return {data_, size_}; }

   private:
    const T* data_ = nullptr;
    size_t size_ = 0;
    std::shared_ptr<const void> owner_;
};

// The same with two dimensions, row-major.
template <typename T>
class Matrix {
   public:
    Matrix() = default;
    Matrix(Array<T> values, size_t rows, size_t columns) : values_(std::move(values)), rows_(rows), columns_(columns) {}

    size_t rows() const { return rows_; }
    size_t columns() const { return columns_; }
    const T* row(size_t r) const { return values_.data() + r * columns_; }
    const T& operator()(size_t r, size_t c) const { return values_[r * columns_ + c]; }

   private:
    Array<T> values_;
    size_t rows_ = 0, columns_ = 0;
};

// Numbers that were computed: memory that nobody has filled with zeros first, and a matrix, row-major.
template <typename T>
struct NewArray {
    explicit NewArray(size_t n) : values(new T[n]), size(n) {}
    std::unique_ptr<T[]> values;
    size_t size;
};
template <typename T>
struct NewMatrix {
    std::vector<T> values;
    size_t rows, columns;
};

// Rows of ids: row i holds ids[offsets[i] .. offsets[i + 1]).
struct Csr {
    Array<int64_t> offsets;
    Array<int32_t> ids;

    size_t rows() const { return offsets.size() - 1; }
};

// Sparse rows of (label, score), labels ascending.
struct LabelScores {
    Array<int64_t> offsets;
    Array<int32_t> labels;
    Array<float> scores;
};

// Throws std::invalid_argument, which is a ValueError in Python, if a condition that arguments must meet does not hold.
inline void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

// Checks offsets of rows over n items: they start at 0, never decrease and end at n. All code that uses offsets relies on this.
inline void check_offsets(std::span<const int64_t> offsets, size_t n, const char* what) {
    if (offsets.empty() || offsets.front() != 0 || static_cast<size_t>(offsets.back()) != n) throw std::invalid_argument(what);
    for (size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1]) throw std::invalid_argument(what);
}

// Checks the numbers of states of some variables.
inline void check_sizes(std::span<const int64_t> sizes) {
    for (const int64_t size : sizes)
        if (size < 1 || size > INT32_MAX) throw std::invalid_argument("a variable has no states, or too many");
}

inline void check_labels(std::span<const int32_t> labels, size_t n_labels) {
    for (const int32_t y : labels)
        if (y < 0 || static_cast<size_t>(y) >= n_labels) throw std::invalid_argument("label id out of range");
}

// Checks that the ids of each row are ascending and in [0, n). The offsets must have been checked.
inline void check_rising(std::span<const int64_t> offsets, std::span<const int32_t> ids, size_t n, const char* what) {
    for (size_t row = 0; row + 1 < offsets.size(); ++row)
        for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i)
            if (ids[i] < 0 || static_cast<size_t>(ids[i]) >= n || (i > offsets[row] && ids[i] <= ids[i - 1]))
                throw std::invalid_argument(what);
}

// Checks the candidate labels of n tokens: each has some, ascending and below n_labels.
inline void check_candidates(const Csr& candidates, size_t n, size_t n_labels) {
    const auto& [offsets, labels] = candidates;
    if (offsets.size() != n + 1) throw std::invalid_argument("candidates and tokens disagree");
    check_offsets(offsets, labels.size(), "candidates and tokens disagree");
    for (size_t t = 0; t < n; ++t)
        if (offsets[t + 1] == offsets[t]) throw std::invalid_argument("a token has no candidate labels");
    check_rising(offsets, labels, n_labels, "candidate labels are out of range or out of order");
}
