// Elimination orders of undirected graphs, and the clique tree of an order.
//
// Eliminating a node connects its remaining neighbours. The node and these neighbours are a clique of the triangulated graph;
// the maximal ones form a tree in which each clique shares its separator with its parent.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

// What decides which node is eliminated next.
enum class Criterion {
    kFill,           // the fewest new edges
    kFillAndDegree,  // the same, and then the fewest neighbours
    kWeightedFill,   // the smallest sum over new edges of the product of the two numbers of states
    kDegree,         // the fewest neighbours
    kWeight          // the smallest table
};

struct EliminationGraph {
    // Edges are pairs of nodes, one after the other. Raises std::invalid_argument for a node that does not exist, and for an edge
    // from a node to itself.
    EliminationGraph(std::span<const int64_t> sizes, std::span<const int32_t> edges, std::span<const uint8_t> last);

    std::vector<std::vector<int32_t>> neighbours;
    std::vector<double> sizes;  // the number of states of each node
    std::vector<uint8_t> last;  // nodes that are eliminated after all others; may be empty
};

struct Elimination {
    std::vector<int32_t> order;
    std::vector<std::vector<int32_t>> later;  // by node: its neighbours when it was eliminated
    double cells = 0.0;                       // of all maximal cliques together
    int64_t added = 0;                        // new edges
    double work = 0.0;                        // about the number of steps taken
};

// Cliques in an order in which parents come first. The variables of a clique are in the order of their elimination, so those
// that are not in the separator come first.
struct CliqueTreeArrays {
    std::vector<int64_t> offsets;
    std::vector<int32_t> variables;
    std::vector<int32_t> parents;  // -1 for a root
    std::vector<int32_t> home;     // by variable: the clique in which it is not in the separator
};

// Eliminates all nodes. Equal nodes are taken in a random order that follows from the seed, or by number if it is 0. Stops early,
// with an empty order, where one clique alone has more than `limit` cells.
Elimination eliminate(const EliminationGraph& graph, Criterion criterion, uint64_t seed, double limit);

// The best order of several: each criterion once, then with random ties, while the search costs less than using the order. One
// try is kFillAndDegree.
Elimination best_elimination(const EliminationGraph& graph, int tries, uint64_t seed);

CliqueTreeArrays clique_tree(const Elimination& elimination);
