#include "inference/messages.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/log_sum.h"
#include "core/logarithms.h"
#include "core/many_logarithms.h"
#include "core/parallel.h"
#include "inference/edge_beliefs.h"

namespace {

constexpr const char* kImpossible = "no labels are possible: the scores forbid all of them";
constexpr size_t kEven = 2;           // rows of tables and messages have an even length, for vectors of two numbers
constexpr size_t kMostUnrolled = 15;  // loops are unrolled for 2 to 16 labels

class Messages {
   public:
    Messages(const PairwiseField& field, const MessageOptions& options);

    size_t n_components() const { return graph_.n_components(); }
    // Begins with the messages of an earlier result.
    void begin(const Array<double>& messages);
    // Passes the messages of a component until they converge. Components may run at the same time.
    void run(size_t component);
    MessageResult result();

   private:
    using Entry = FieldGraph::Entry;

    // Numbers for each label, of one node at a time.
    struct Scratch {
        std::vector<double> total, cavity, out, logs;
        std::vector<int64_t> none;
    };

    void reset(size_t component, double value);
    void set_power(int64_t p);
    double sweep(size_t component, bool logs, Scratch& s);
    template <size_t K, bool Maximum>
    double send_products(int32_t i, int64_t begin, int64_t end, double damping);
    template <size_t... K>
    void choose_kernel(std::index_sequence<K...>);
    bool gather(int32_t i, bool logs, Scratch& s) const;
    bool cavity_of(int64_t p, bool logs, bool products, Scratch& s) const;
    double send(int32_t i, int64_t p, bool logs, bool products, double damping, Scratch& s);
    double send_logs(int32_t i, const Entry& entry, double* to, double damping, Scratch& s) const;
    void finish(size_t component, bool logs, Scratch& s);
    void label(int32_t i, bool logs, Scratch& s);
    double score(int32_t i, int32_t label) const;

    // The factors of a node's products: its messages, to the power of their weights where it is on a loop.
    const std::vector<double>& factors(int32_t i) const {
        return powers_.empty() || graph_.tree[graph_.component[i]] ? incoming_ : powers_;
    }
    const EdgePotentials& table_of(const Entry& entry) const {
        const bool on_loop = !graph_.tree[graph_.component[entry.neighbour]];
        return tables_[2 * static_cast<size_t>(field_.table[entry.edge]) + on_loop];
    }
    // The score of an edge of node i at the label a of i and the label b of the neighbour, divided by the weight.
    double pair_score(int32_t i, const Entry& entry, size_t a, size_t b) const {
        const std::vector<double>& scores = table_of(entry).scores;
        return field_.left[entry.edge] == i ? scores[a * k_ + b] : scores[b * k_ + a];
    }
    // Where the message that comes in by an entry is among the messages of a result.
    size_t place_of(const Entry& entry) const {
        return (2 * static_cast<size_t>(entry.edge) + (field_.left[entry.edge] == entry.neighbour ? 0 : 1)) * k_;
    }
    template <typename Work>
    void each_entry(size_t component, Work work) const {
        for (int64_t at = graph_.component_start[component]; at < graph_.component_start[component + 1]; ++at) {
            const int32_t i = graph_.order[at];
            for (int64_t p = graph_.offsets[i]; p < graph_.offsets[i + 1]; ++p) work(p);
        }
    }

    const PairwiseField& field_;
    const MessageOptions& options_;
    const FieldGraph graph_;
    const size_t k_, padded_;
    double (Messages::*kernel_)(int32_t, int64_t, int64_t, double) = nullptr;  // send_products for the number of labels
    std::vector<EdgePotentials> tables_;
    std::vector<double> nodes_;     // (nodes, padded): potentials of labels, divided by their maximum
    std::vector<double> incoming_;  // (entries, padded): the messages that each node receives; probabilities or logarithms
    std::vector<double> powers_;    // the same to the power of their weights, where there are weights and no logarithms
    std::vector<uint8_t> logs_;     // of each component: whether potentials underflow
    std::vector<uint8_t> safe_;     // of each node: whether products of its messages cannot underflow
    bool begun_ = false;
    MessageResult found_;
};

Messages::Messages(const PairwiseField& field, const MessageOptions& options)
    : field_(field),
      options_(options),
      graph_(field.n_nodes(), field.left, field.right),
      k_(field.n_labels()),
      padded_((k_ + kEven - 1) / kEven * kEven) {
    tables_ = potentials_of(field, padded_);
    const size_t n = field.n_nodes(), components = graph_.n_components();
    incoming_.resize(graph_.entries.size() * padded_);
    if (std::any_of(field.weights.begin(), field.weights.end(), [](double weight) { return weight < 1.0; }))
        powers_.resize(incoming_.size());
    choose_kernel(std::make_index_sequence<kMostUnrolled>());
    safe_.resize(n);
    logs_.assign(components, 0);
    nodes_.assign(n * padded_, kLeastLog);
    const double log_k = portable_log(static_cast<double>(k_));
    for (size_t i = 0; i < n; ++i) {
        double top = -INFINITY, least = INFINITY;
        for (size_t a = 0; a < k_; ++a) {
            const double value = field.nodes(i, a);
            if (value > -INFINITY) top = std::max(top, value), least = std::min(least, value);
        }
        if (top == -INFINITY) throw std::invalid_argument("a node has no possible label");
        for (size_t a = 0; a < k_; ++a) nodes_[i * padded_ + a] = field.nodes(i, a) - top;
        double total = top - least, largest = total;
        for (int64_t p = graph_.offsets[i]; p < graph_.offsets[i + 1]; ++p) {
            const double spread = table_of(graph_.entries[p]).spread;
            total += spread + log_k;
            largest = std::max(largest, spread);
        }
        safe_[i] = total < kSafe;
        if (largest > kSafe) logs_[graph_.component[i]] = 1;
    }
    exponentiate(nodes_.data(), nodes_.size());
    for (size_t i = 0; i < n; ++i)
        for (size_t a = 0; a < padded_; ++a)
            if (a >= k_ || field.nodes(i, a) == -INFINITY) nodes_[i * padded_ + a] = 0.0;
    found_.component = graph_.component;
    found_.sweeps.assign(components, 0);
    found_.change.assign(components, 0.0);
    found_.log_z.assign(components, 0.0);
    found_.marginals.resize(n * k_);
    found_.labels.assign(options.labels ? n : 0, 0);
}

void Messages::begin(const Array<double>& messages) {
    begun_ = true;
    for (size_t p = 0; p < graph_.entries.size(); ++p) {
        const double* from = messages.data() + place_of(graph_.entries[p]);
        for (size_t a = 0; a < k_; ++a) incoming_[p * padded_ + a] = std::max(from[a], -1e4);
        exponentiate(incoming_.data() + p * padded_, k_);
        set_power(static_cast<int64_t>(p));
    }
}

// Where there are weights, sets the power of the message that comes in by an entry.
void Messages::set_power(int64_t p) {
    if (powers_.empty()) return;
    const double weight = table_of(graph_.entries[p]).weight;
    const double* message = incoming_.data() + static_cast<size_t>(p) * padded_;
    double* power = powers_.data() + static_cast<size_t>(p) * padded_;
    if (weight == 1.0) {
        std::copy_n(message, k_, power);
        return;
    }
    std::copy_n(message, k_, power);
    logarithms(power, k_);
    for (size_t a = 0; a < k_; ++a) power[a] = std::max(weight * power[a], kLeastLog);
    exponentiate(power, k_);
}

template <size_t... K>
void Messages::choose_kernel(std::index_sequence<K...>) {
    ((k_ == K + 2
          ? void(kernel_ = options_.maximum ? &Messages::send_products<K + 2, true> : &Messages::send_products<K + 2, false>)
          : void()),
     ...);
}

// Sends the messages of node i to the neighbours of some entries, for K labels, where products of its messages are safe.
// Returns the largest change, or -1 if a product is zero: they have to be sent in another way.
template <size_t K, bool Maximum>
double Messages::send_products(int32_t i, int64_t begin, int64_t end, double damping) {
    constexpr size_t kWidth = (K + kEven - 1) / kEven * kEven;
    double total[kWidth], cavity[kWidth], out[kWidth];
    std::copy_n(nodes_.data() + static_cast<size_t>(i) * kWidth, kWidth, total);
    for (int64_t p = graph_.offsets[i]; p < graph_.offsets[i + 1]; ++p) {
        const double* message = factors(i).data() + static_cast<size_t>(p) * kWidth;
        for (size_t a = 0; a < kWidth; ++a) total[a] *= message[a];
    }
    double least = total[0];
    for (size_t a = 1; a < K; ++a) least = std::min(least, total[a]);
    if (!(least > 0.0)) return -1.0;
    double change = 0.0;
    const bool on_loop = !graph_.tree[graph_.component[i]];
    for (int64_t p = begin; p < end; ++p) {
        const Entry& entry = graph_.entries[p];
        const EdgePotentials& table = tables_[2 * static_cast<size_t>(field_.table[entry.edge]) + on_loop];
        const double* own = incoming_.data() + static_cast<size_t>(p) * kWidth;
        double* to = incoming_.data() + static_cast<size_t>(entry.mirror) * kWidth;
        for (size_t a = 0; a < kWidth; ++a) cavity[a] = total[a] / own[a];
        const double* from = (field_.left[entry.edge] == i ? table.from_left : table.from_right).data();
        for (size_t b = 0; b < kWidth; ++b) out[b] = cavity[0] * from[b];
        for (size_t a = 1; a < K; ++a)
            for (size_t b = 0; b < kWidth; ++b) {
                const double product = cavity[a] * from[a * kWidth + b];
                out[b] = Maximum ? std::max(out[b], product) : out[b] + product;
            }
        double sum = out[0];
        for (size_t b = 1; b < K; ++b) sum += out[b];
        if (!(sum > 0.0)) return -1.0;
        const double scale = 1.0 / sum;
        for (size_t b = 0; b < kWidth; ++b) {
            const double value = out[b] * scale;
            change = std::max(change, std::abs(value - to[b]));
            to[b] = damping > 0.0 ? (1.0 - damping) * value + damping * to[b] : value;
        }
        if (on_loop) set_power(entry.mirror);
    }
    return change;
}

// The product of node i's score and all its messages, in s.total; with logs or without safety their sum of logarithms, and in
// s.none how many of them are zero. Returns whether it is the product, and no factor is zero.
bool Messages::gather(int32_t i, bool logs, Scratch& s) const {
    const double* node = field_.nodes.row(i);
    const int64_t begin = graph_.offsets[i], end = graph_.offsets[i + 1];
    double top = -INFINITY;
    for (size_t a = 0; a < k_; ++a) top = std::max(top, node[a]);
    if (!logs && safe_[i]) {
        std::copy_n(nodes_.data() + static_cast<size_t>(i) * padded_, k_, s.total.data());
        for (int64_t p = begin; p < end; ++p) {
            const double* message = factors(i).data() + static_cast<size_t>(p) * padded_;
            for (size_t a = 0; a < k_; ++a) s.total[a] *= message[a];
        }
        // Products that are safe are zero only where a factor is.
        if (*std::min_element(s.total.begin(), s.total.begin() + static_cast<int64_t>(k_)) > 0.0) return true;
    }
    for (size_t a = 0; a < k_; ++a) {
        s.none[a] = node[a] == -INFINITY;
        s.total[a] = s.none[a] ? 0.0 : node[a] - top;
    }
    for (int64_t p = begin; p < end; ++p) {
        const double* message = incoming_.data() + static_cast<size_t>(p) * padded_;
        const double weight = table_of(graph_.entries[p]).weight;
        for (size_t a = 0; a < k_; ++a) {
            const double value = logs ? message[a] : portable_log(message[a]);
            if (value == -INFINITY)
                ++s.none[a];
            else
                s.total[a] += weight * value;
        }
    }
    return false;
}

// The cavity of node i without the message of entry p (all messages if p is -1), with the maximum 1 (its logarithm 0 with logs).
// Returns false if a number underflowed that may matter.
bool Messages::cavity_of(int64_t p, bool logs, bool products, Scratch& s) const {
    const double* own = p < 0 ? nullptr : incoming_.data() + static_cast<size_t>(p) * padded_;
    double top = 0.0;
    if (products) {
        for (size_t a = 0; a < k_; ++a) {
            s.cavity[a] = own ? s.total[a] / own[a] : s.total[a];
            top = std::max(top, s.cavity[a]);
        }
        for (size_t a = 0; a < k_; ++a) s.cavity[a] /= top;
        return true;
    }
    top = -INFINITY;
    for (size_t a = 0; a < k_; ++a) {
        double value = s.total[a];
        int64_t none = s.none[a];
        if (own) {
            const double log = logs ? own[a] : portable_log(own[a]);
            if (log == -INFINITY)
                --none;
            else
                value -= log;
        }
        s.cavity[a] = none > 0 ? -INFINITY : value;
        top = std::max(top, s.cavity[a]);
    }
    if (top == -INFINITY) throw std::invalid_argument(kImpossible);
    bool whole = true;
    for (size_t a = 0; a < k_; ++a) {
        s.cavity[a] -= top;
        whole &= s.cavity[a] == -INFINITY || s.cavity[a] > -kSafe;
    }
    if (logs) return true;
    for (size_t a = 0; a < k_; ++a) s.logs[a] = s.cavity[a];
    exponentiate(s.cavity.data(), k_);
    for (size_t a = 0; a < k_; ++a)
        if (s.logs[a] == -INFINITY) s.cavity[a] = 0.0;
    return whole;
}

// Sends the message of node i to the neighbour of entry p. Returns its change, or -1 if logarithms are needed.
double Messages::send(int32_t i, int64_t p, bool logs, bool products, double damping, Scratch& s) {
    const Entry& entry = graph_.entries[p];
    const EdgePotentials& table = table_of(entry);
    double* to = incoming_.data() + static_cast<size_t>(entry.mirror) * padded_;
    const bool whole = cavity_of(p, logs, products, s);
    if (logs) return send_logs(i, entry, to, damping, s);
    if (!whole && table.hard) return -1.0;
    table.multiply(s.cavity, field_.left[entry.edge] == i, options_.maximum, s.out);
    double total = 0.0, change = 0.0;
    for (size_t b = 0; b < k_; ++b) total += s.out[b];
    if (!(total > 0.0)) return -1.0;
    const double scale = 1.0 / total;
    for (size_t b = 0; b < k_; ++b) {
        const double value = s.out[b] * scale;
        change = std::max(change, std::abs(value - to[b]));
        to[b] = damping > 0.0 ? (1.0 - damping) * value + damping * to[b] : value;
    }
    set_power(entry.mirror);
    return change;
}

double Messages::send_logs(int32_t i, const Entry& entry, double* to, double damping, Scratch& s) const {
    for (size_t b = 0; b < k_; ++b) {
        for (size_t a = 0; a < k_; ++a) s.logs[a] = s.cavity[a] + pair_score(i, entry, a, b);
        s.out[b] = options_.maximum ? *std::max_element(s.logs.begin(), s.logs.begin() + static_cast<int64_t>(k_))
                                    : log_sum(s.logs.data(), k_);
    }
    const double total = log_sum(s.out.data(), k_);
    if (total == -INFINITY) throw std::invalid_argument(kImpossible);
    double change = 0.0;
    for (size_t b = 0; b < k_; ++b) {
        double two[] = {s.out[b] - total, std::max(to[b], kLeastLog)};
        exponentiate(two, 2);
        const double value = two[0], before = two[1];
        change = std::max(change, std::abs(value - before));
        to[b] = damping > 0.0 ? portable_log((1.0 - damping) * value + damping * before) : s.out[b] - total;
    }
    return change;
}

// One sweep; returns the largest change of a message, or -1 if logarithms are needed.
double Messages::sweep(size_t component, bool logs, Scratch& s) {
    const double damping = graph_.tree[component] ? 0.0 : options_.damping;
    const int64_t first = graph_.component_start[component], last = graph_.component_start[component + 1];
    double change = 0.0;
    const auto visit = [&](int32_t i, int64_t begin, int64_t end) {
        if (begin == end) return true;
        if (kernel_ != nullptr && !logs && safe_[i]) {
            const double own = (this->*kernel_)(i, begin, end, damping);
            change = std::max(change, own);
            if (own >= 0.0) return true;
        }
        const bool products = gather(i, logs, s);
        for (int64_t p = begin; p < end; ++p) {
            const double own = send(i, p, logs, products, damping, s);
            if (own < 0.0) return false;
            change = std::max(change, own);
        }
        return true;
    };
    for (int64_t at = last - 1; at >= first; --at) {
        const int32_t i = graph_.order[at];
        if (!visit(i, graph_.offsets[i], graph_.earlier[i])) return -1.0;
    }
    for (int64_t at = first; at < last; ++at) {
        const int32_t i = graph_.order[at];
        if (!visit(i, graph_.earlier[i], graph_.offsets[i + 1])) return -1.0;
    }
    return change;
}

void Messages::reset(size_t component, double value) {
    each_entry(component, [&](int64_t p) {
        std::fill_n(incoming_.data() + static_cast<size_t>(p) * padded_, k_, value);
        if (value > 0.0) set_power(p);
    });
}

void Messages::run(size_t component) {
    Scratch s;
    for (std::vector<double>* own : {&s.total, &s.cavity, &s.out, &s.logs}) own->assign(padded_, 0.0);
    s.none.assign(k_, 0);
    const bool tree = graph_.tree[component];
    const double uniform = -portable_log(static_cast<double>(k_));
    bool logs = logs_[component];
    if (logs || !begun_) reset(component, logs ? uniform : 1.0 / static_cast<double>(k_));
    const int most = tree ? 1 : options_.sweeps;
    int sweeps = 0;
    double change = 0.0;
    while (sweeps < most) {
        change = sweep(component, logs, s);
        ++sweeps;
        if (change < 0.0) {  // numbers underflowed: again, with logarithms
            logs = true;
            reset(component, uniform);
            sweeps = 0;
        } else if (change < options_.tolerance) {
            break;
        }
    }
    found_.sweeps[component] = sweeps;
    found_.change[component] = tree ? 0.0 : change;
    finish(component, logs, s);
}

double Messages::score(int32_t i, int32_t label) const {
    double sum = field_.nodes(static_cast<size_t>(i), static_cast<size_t>(label));
    for (int64_t p = graph_.offsets[i]; p < graph_.earlier[i]; ++p)
        sum += table_of(graph_.entries[p]).weight * pair_score(i, graph_.entries[p], static_cast<size_t>(label),
                                                               static_cast<size_t>(found_.labels[graph_.entries[p].neighbour]));
    return sum;
}

// The best label of a node given those of the neighbours before it, and the messages of those after it.
void Messages::label(int32_t i, bool logs, Scratch& s) {
    for (size_t a = 0; a < k_; ++a) {
        double sum = score(i, static_cast<int32_t>(a));
        for (int64_t p = graph_.earlier[i]; p < graph_.offsets[i + 1]; ++p) {
            const double message = incoming_[static_cast<size_t>(p) * padded_ + a];
            sum += table_of(graph_.entries[p]).weight * (logs ? message : portable_log(message));
        }
        s.out[a] = sum;
    }
    found_.labels[i] =
        static_cast<int32_t>(std::max_element(s.out.begin(), s.out.begin() + static_cast<int64_t>(k_)) - s.out.begin());
}

void Messages::finish(size_t component, bool logs, Scratch& s) {
    const int64_t first = graph_.component_start[component], last = graph_.component_start[component + 1];
    double sum = 0.0;
    for (int64_t at = first; at < last; ++at) {
        const int32_t i = graph_.order[at];
        const double* node = field_.nodes.row(i);
        if (options_.labels) label(i, logs, s);
        const bool products = gather(i, logs, s);
        if (options_.log_z && options_.maximum) {
            sum += score(i, found_.labels[i]);
        } else if (options_.log_z) {
            double total = 0.0;
            for (size_t a = 0; a < k_; ++a) {
                total += s.total[a];
                s.logs[a] = !products && s.none[a] ? -INFINITY : s.total[a];
            }
            sum += *std::max_element(node, node + k_) + (products ? portable_log(total) : log_sum(s.logs.data(), k_));
        }
        // Their logarithms, divided by their sum.
        double* marginals = found_.marginals.data() + static_cast<size_t>(i) * k_;
        if (products) {
            const double total = std::accumulate(s.total.begin(), s.total.begin() + static_cast<int64_t>(k_), 0.0);
            for (size_t a = 0; a < k_; ++a) marginals[a] = s.total[a] / total;
            logarithms(marginals, k_);
        } else {
            cavity_of(-1, true, false, s);
            const double total = log_sum(s.cavity.data(), k_);
            for (size_t a = 0; a < k_; ++a) marginals[a] = s.cavity[a] - total;
        }
        if (logs) continue;
        const auto begin = static_cast<size_t>(graph_.offsets[i]), end = static_cast<size_t>(graph_.offsets[i + 1]);
        logarithms(incoming_.data() + begin * padded_, (end - begin) * padded_);
    }
    if (options_.log_z && !options_.maximum) {
        PairBeliefs beliefs(k_);
        each_entry(component, [&](int64_t p) {
            const Entry& entry = graph_.entries[p];
            const auto i = static_cast<size_t>(field_.left[entry.edge]), j = static_cast<size_t>(field_.right[entry.edge]);
            if (static_cast<size_t>(entry.neighbour) != j) return;
            sum += beliefs.fill(table_of(entry), found_.marginals.data() + i * k_, found_.marginals.data() + j * k_,
                                incoming_.data() + static_cast<size_t>(p) * padded_,
                                incoming_.data() + static_cast<size_t>(entry.mirror) * padded_);
        });
    }
    found_.log_z[component] = sum;
}

MessageResult Messages::result() {
    for (const int32_t i : field_.left) found_.on_loop.push_back(!graph_.tree[graph_.component[i]]);
    found_.messages.resize(2 * field_.n_edges() * k_);
    for (size_t p = 0; p < graph_.entries.size(); ++p)
        std::copy_n(incoming_.data() + p * padded_, k_, found_.messages.data() + place_of(graph_.entries[p]));
    return std::move(found_);
}

}  // namespace

MessageResult pass_messages(const PairwiseField& field, const MessageOptions& options,
                            const std::optional<Array<double>>& messages) {
    field.check();
    if (messages) check_messages(field, *messages);
    Messages pass(field, options);
    if (messages) pass.begin(*messages);
    std::atomic<size_t> next = 0;
    in_parallel(useful_threads(options.threads, pass.n_components()), [&](size_t) {
        for (size_t c = next++; c < pass.n_components(); c = next++) pass.run(c);
    });
    return pass.result();
}
