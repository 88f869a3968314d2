// The features of a full lattice in the order in which a batch optimiser reads them at each evaluation.
//
// The stream has a list of features for each group of sentences. Each feature lists the tokens that have it, so that a weight
// is read once for all of them. Features are sorted by number of weights, then by number of tokens, so that loop lengths rarely
// change, then by the position of their weights.
// A few features have many labels and dominate the cost; these are scored token by token from dense rows, which vectorises.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "core/tiles.h"
#include "features/sparse_features.h"

class FeatureStream {
   public:
    // Dense rows of weights for one evaluation, each with `stride` floats, a multiple of 32.
    struct Rows {
        size_t stride = 0;
        Tiles weights;
    };
    using Group = std::vector<std::pair<int64_t, size_t>>;  // sentences: first token and length

    FeatureStream(const SparseFeatures& features, const std::vector<Group>& groups, size_t n_labels);

    // Fills the dense rows with weights.
    void open(Rows& rows, const float* weights, size_t stride) const;
    // out(i) += the scores of the i-th token of the group.
    void add_scores(size_t group, const float* weights, const Rows& rows, float* const* out) const;
    // gradient(f, y) += sum over the group's tokens of value * residual(y), for the weights that belong to this part. Residuals
    // are rows of `stride` floats.
    void add_gradient(size_t group, const float* const* residuals, size_t stride, double* gradient, size_t part,
                      size_t parts) const;

   private:
    // A feature of a group: its first weight, its number of weights, and the end of its list of tokens.
    struct Item {
        int32_t slot, slots;
        size_t end;
    };
    // Work memory of list_items: the item of each feature in the group (-1: none), and where its next token goes.
    struct Listing {
        std::vector<int32_t> item_of;
        std::vector<uint64_t> keys;
        std::vector<size_t> next;
    };
    void list_items(const Group& group, Listing& work);
    void list_rows(const Group& group);
    void add_sums(const Item& item, size_t begin, const float* const* residuals, size_t stride, float* sums,
                  double* gradient) const;
    int32_t slots_of(int32_t f) const { return static_cast<int32_t>(features_.slots.end(f) - features_.slots.begin(f)); }
    size_t first_of(size_t item) const { return item == 0 ? 0 : items_[item - 1].end; }
    float value(size_t i) const { return values_.empty() ? 1.0f : values_[i]; }
    // Prefetches the weights and labels of a later item.
    template <typename Weight>
    void prefetch_item(size_t item, size_t end, const Weight* weights) const;

    const SparseFeatures& features_;
    int32_t many_;                       // the number of labels from which a feature has a dense row
    std::vector<size_t> first_item_{0};  // of each group, and the end
    std::vector<Item> items_;
    std::vector<int32_t> tokens_;  // of the items: index of each token in its group
    std::vector<float> values_;    // the feature's value, if values are not all 1
    // Features seen with many labels: the dense row of each feature (-1: none), and the rows of each token.
    std::vector<int32_t> row_of_, rows_;
    size_t n_rows_ = 0;
    std::vector<size_t> first_token_{0}, first_row_{0};  // first token of each group, first entry of each token in `rows_`
    std::vector<float> row_values_;
};
