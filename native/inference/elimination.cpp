#include "inference/elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "core/array.h"
#include "core/logarithms.h"
#include "core/mixing.h"

namespace {

// The graph while nodes are eliminated.
class Eliminator {
   public:
    Eliminator(const EliminationGraph& graph, Criterion criterion, uint64_t seed)
        : graph_(graph),
          criterion_(criterion),
          seed_(seed),
          near_(graph.neighbours),
          mark_(near_.size(), 0),
          version_(near_.size(), 0) {
        for (size_t v = 0; v < near_.size(); ++v) push(static_cast<int32_t>(v));
    }

    Elimination run(double limit) {
        const size_t n = near_.size();
        found_.later.resize(n);
        std::vector<uint8_t> gone(n, 0);
        while (!queue_.empty()) {
            const auto [last, cost, tie, v, version] = queue_.top();
            queue_.pop();
            if (gone[v] || version != version_[v]) continue;
            gone[v] = 1;
            double cells = graph_.sizes[v];
            for (const int32_t u : near_[v]) cells *= graph_.sizes[u];
            if (cells > limit) return {.order = {}, .later = {}, .cells = cells, .added = 0, .work = found_.work};
            remove(v);
        }
        return std::move(found_);
    }

   private:
    using Entry = std::tuple<int, double, uint64_t, int32_t, uint32_t>;  // last, cost, tie, node, version

    void push(int32_t v) {
        const int last = graph_.last.empty() ? 0 : graph_.last[v];
        const uint64_t tie = seed_ == 0 ? static_cast<uint64_t>(v) : mixed(seed_ + static_cast<uint64_t>(v));
        queue_.emplace(last, cost(v), tie, v, ++version_[v]);
    }

    uint32_t marked(int32_t v) {
        ++stamp_;
        for (const int32_t u : near_[v]) mark_[u] = stamp_;
        return stamp_;
    }

    double cost(int32_t v) {
        const std::vector<int32_t>& near = near_[v];
        if (criterion_ == Criterion::kDegree) return static_cast<double>(near.size());
        if (criterion_ == Criterion::kWeight) {
            double logs = portable_log(graph_.sizes[v]);
            for (const int32_t u : near) logs += portable_log(graph_.sizes[u]);
            return logs;
        }
        // All pairs of neighbours less those that are connected, each of which is met from both ends.
        const bool weighted = criterion_ == Criterion::kWeightedFill;
        const uint32_t stamp = marked(v);
        double all = 0.0, squares = 0.0, connected = 0.0;
        for (const int32_t u : near) {
            const double own = weighted ? graph_.sizes[u] : 1.0;
            all += own;
            squares += own * own;
            double others = 0.0;
            for (const int32_t w : near_[u])
                if (mark_[w] == stamp) others += weighted ? graph_.sizes[w] : 1.0;
            connected += own * others;
            found_.work += static_cast<double>(near_[u].size());
        }
        const double fill = (all * all - squares - connected) / 2.0;
        return criterion_ == Criterion::kFillAndDegree ? fill + static_cast<double>(near.size()) / 0x1p32 : fill;
    }

    void remove(int32_t v) {
        const std::vector<int32_t> near = near_[v];
        for (const int32_t u : near) {
            std::vector<int32_t>& others = near_[u];
            *std::find(others.begin(), others.end(), v) = others.back();
            others.pop_back();
        }
        std::vector<int32_t> changed = near;
        connect(near, changed);
        near_[v].clear();
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        for (const int32_t u : changed) push(u);
        found_.order.push_back(v);
        found_.later[v] = near;
    }

    // Connects all pairs; adds the nodes that see both ends of a new edge to `changed`.
    void connect(const std::vector<int32_t>& nodes, std::vector<int32_t>& changed) {
        const bool fill = criterion_ != Criterion::kDegree && criterion_ != Criterion::kWeight;
        for (size_t i = 0; i < nodes.size(); ++i) {
            const int32_t a = nodes[i];
            const uint32_t stamp = marked(a);
            for (size_t j = i + 1; j < nodes.size(); ++j) {
                const int32_t b = nodes[j];
                if (mark_[b] == stamp) continue;
                for (const int32_t w : near_[b])
                    if (fill && mark_[w] == stamp) changed.push_back(w);
                found_.work += static_cast<double>(near_[b].size());
                near_[a].push_back(b);
                near_[b].push_back(a);
                ++found_.added;
            }
        }
    }

    const EliminationGraph& graph_;
    Criterion criterion_;
    uint64_t seed_;
    std::vector<std::vector<int32_t>> near_;
    std::vector<uint32_t> mark_, version_;
    uint32_t stamp_ = 0;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
    Elimination found_;
};

constexpr double kMostWork = 2e8;  // about two seconds

double total_cells(const Elimination& found, std::span<const double> sizes) {
    const CliqueTreeArrays tree = clique_tree(found);
    double total = 0.0;
    for (size_t i = 0; i + 1 < tree.offsets.size(); ++i) {
        double cells = 1.0;
        for (int64_t k = tree.offsets[i]; k < tree.offsets[i + 1]; ++k) cells *= sizes[tree.variables[k]];
        total += cells;
    }
    return total;
}

}  // namespace

EliminationGraph::EliminationGraph(std::span<const int64_t> states, std::span<const int32_t> edges,
                                   std::span<const uint8_t> flags)
    : neighbours(states.size()), sizes(states.begin(), states.end()), last(flags.begin(), flags.end()) {
    check_sizes(states);
    if (states.empty() || last.size() != states.size())
        throw std::invalid_argument("edges must be pairs, and last have all nodes");
    for (size_t e = 0; e + 1 < edges.size(); e += 2) {
        const int32_t a = edges[e], b = edges[e + 1];
        for (const int32_t v : {a, b})
            if (v < 0 || static_cast<size_t>(v) >= states.size()) throw std::invalid_argument("an edge has an unknown end");
        if (a == b) throw std::invalid_argument("a node has an edge to itself");
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    for (std::vector<int32_t>& near : neighbours) {
        std::sort(near.begin(), near.end());
        near.erase(std::unique(near.begin(), near.end()), near.end());
    }
}

Elimination eliminate(const EliminationGraph& graph, Criterion criterion, uint64_t seed, double limit) {
    Elimination found = Eliminator(graph, criterion, seed).run(limit);
    if (!found.order.empty()) found.cells = total_cells(found, graph.sizes);
    return found;
}

Elimination best_elimination(const EliminationGraph& graph, int tries, uint64_t seed) {
    if (tries <= 1) return eliminate(graph, Criterion::kFillAndDegree, 0, std::numeric_limits<double>::infinity());
    constexpr Criterion kAll[] = {Criterion::kFill, Criterion::kWeightedFill, Criterion::kWeight, Criterion::kDegree};
    Elimination best = eliminate(graph, Criterion::kFill, 0, std::numeric_limits<double>::infinity());
    double work = best.work;
    if (best.added == 0) return best;  // it was triangulated: all orders without new edges have the same cliques
    for (int i = 1; i < tries; ++i) {
        if (i >= 4 && work > std::min(kMostWork, 0.5 * best.cells)) break;
        const uint64_t ties = i < 4 ? 0 : mixed(seed + static_cast<uint64_t>(i)) | 1;
        Elimination found = eliminate(graph, i < 4 ? kAll[i] : kAll[i % 3], ties, best.cells);
        work += found.work + static_cast<double>(graph.sizes.size());
        if (!found.order.empty() && found.cells < best.cells) best = std::move(found);
    }
    best.work = work;
    return best;
}

CliqueTreeArrays clique_tree(const Elimination& elimination) {
    const std::vector<int32_t>& order = elimination.order;
    const size_t n = order.size();
    std::vector<int32_t> place(n);
    for (size_t i = 0; i < n; ++i) place[order[i]] = static_cast<int32_t>(i);
    const auto earlier = [&](int32_t a, int32_t b) { return place[a] < place[b]; };
    CliqueTreeArrays tree;
    tree.home.assign(n, -1);
    std::vector<std::vector<int32_t>> cliques;
    for (size_t i = n; i-- > 0;) {
        const int32_t v = order[i];
        const std::vector<int32_t>& rest = elimination.later[v];
        const int32_t at = rest.empty() ? -1 : tree.home[*std::min_element(rest.begin(), rest.end(), earlier)];
        if (at >= 0 && cliques[at].size() == rest.size()) {  // the clique is `rest`: v extends it
            cliques[at].push_back(v);
            tree.home[v] = at;
        } else {
            tree.home[v] = static_cast<int32_t>(cliques.size());
            cliques.push_back(rest);
            cliques.back().push_back(v);
            tree.parents.push_back(at);
        }
    }
    tree.offsets.push_back(0);
    for (std::vector<int32_t>& clique : cliques) {
        std::sort(clique.begin(), clique.end(), earlier);
        tree.variables.insert(tree.variables.end(), clique.begin(), clique.end());
        tree.offsets.push_back(static_cast<int64_t>(tree.variables.size()));
    }
    return tree;
}
