// Marginals of a pairwise field by messages (belief propagation), exact where a component of the graph is a tree.
//
//     cavity_ij(a) = exp node_i(a)  prod over neighbours l of i other than j of message_li(a)
//     message_ij(b) is proportional to sum (or maximum) over a of cavity_ij(a) exp table_e(a, b),   e = (i, j)
//     P(y_i = a) is about exp node_i(a)  prod over all neighbours l of message_li(a)
//
// A sweep passes messages from the last node to the first, each to the neighbours before it, and then from the first to the last.
// On a tree one sweep is enough. Elsewhere sweeps go on until no message changes by `tolerance`; the new message is a mean of the
// old one (`damping`) and the computed one.
//
// Around a loop, what a node says comes back to it, and is counted again. Less of it is where an edge on a loop has a weight r below
// 1: every message above is then to the power r, but for that of the node that a cavity leaves out, which is to the power r - 1, and
// table_e is divided by r (Wainwright and others, 2005). The weight 1 is belief propagation. With beliefs b_i, the marginals,
//
//     log Z = sum over i of log Z_i + sum over e of r_e log( sum over a, b of b_i(a) / message_ji(a) exp(table_e(a, b) / r_e) b_j(b) / message_ij(b) )
//
// where Z_i is the sum that b_i is divided by. Messages are kept as probabilities. Where their products could underflow, sums of
// logarithms take their place.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "inference/pairwise_field.h"

struct MessageOptions {
    bool maximum = false;  // the best labels in place of sums
    double damping = 0.0, tolerance = 1e-8;
    int sweeps = 100;                    // at most
    bool labels = false, log_z = false;  // whether they are computed
    size_t threads = 1;
};

struct MessageResult {
    std::vector<double> marginals;   // (nodes, labels), logarithms
    std::vector<double> messages;    // (edges, 2, labels): logarithms, to the right end and to the left end
    std::vector<int32_t> labels;     // of each node: the best given those of the neighbours before it
    std::vector<double> log_z;       // of each component; with `maximum` the score of the labels
    std::vector<int32_t> sweeps;     // of each component
    std::vector<double> change;      // the largest change of a message in the last sweep; 0 for trees
    std::vector<int32_t> component;  // of each node
    std::vector<uint8_t> on_loop;    // of each edge: whether its component has a loop, so that weights count
};

// Raises std::invalid_argument if the scores forbid all labels. `messages` are those to begin with, as in a result.
MessageResult pass_messages(const PairwiseField& field, const MessageOptions& options,
                            const std::optional<Array<double>>& messages);
