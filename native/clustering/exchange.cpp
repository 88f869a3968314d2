// Exchange clustering. See exchange.h.
#include "clustering/exchange.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/logarithms.h"
#include "core/parallel.h"
#include "core/tiles.h"
#include "core/vectors.h"

namespace {

// A move must raise the objective by this many nats, so that rounding errors move nothing.
constexpr double kLeastGain = 1e-3;
// The largest batch of words. Early batches are smaller: while few words have classes, each move matters to the next.
constexpr size_t kBatch = 512;
constexpr size_t kTableSize = 1 << 16;
constexpr int64_t kMostTokens = 2'000'000'000;

// F(n) = n log n, from a table for small n.
class NLogN {
   public:
    NLogN() : small_(kTableSize) {
        for (size_t n = 1; n < kTableSize; ++n) small_[n] = static_cast<double>(n) * portable_log(static_cast<double>(n));
    }
    double operator()(int64_t n) const {
        return static_cast<size_t>(n) < kTableSize ? small_[static_cast<size_t>(n)]
                                                   : static_cast<double>(n) * portable_log(static_cast<double>(n));
    }

   private:
    std::vector<double> small_;
};

// log x for normal x > 0, with a relative error of about 1e-7. Compilers can vectorise loops over it.
CORATE_INLINE float fast_log(float x) {
    int32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const int32_t exponent = (bits - 0x3f3504f3) >> 23;  // the mantissa is between sqrt(1/2) and sqrt(2)
    bits -= exponent * (1 << 23);
    float mantissa;
    std::memcpy(&mantissa, &bits, sizeof mantissa);
    // log(1 + r) = r - r^2 / 2 + r^3 p(r); p is a least-squares fit.
    const float r = mantissa - 1.0f, square = r * r;
    float p = 0.086427702f;
    p = p * r - 0.142628310f;
    p = p * r + 0.149341743f;
    p = p * r - 0.165789587f;
    p = p * r + 0.199611476f;
    p = p * r - 0.250012618f;
    p = p * r + 0.333339679f;
    return static_cast<float>(exponent) * 0.69314718f + (r - 0.5f * square + r * square * p);
}

// sums(b) += F(counts(b) + more) - F(counts(b)); values(b) = F(counts(b)).
CORATE_FOR_EACH_PROCESSOR
void add_growth(float* sums, const int32_t* counts, const float* values, float more, size_t size) {
    for (size_t b = 0; b < size; ++b) {
        const float grown = static_cast<float>(counts[b]) + more;
        sums[b] += grown * fast_log(grown) - values[b];
    }
}

// What one thread needs to propose a move.
struct Scratch {
    explicit Scratch(size_t stride) : before(stride), after(stride), row(stride), row_values(stride), sums(stride) {}

    std::vector<int32_t> before, after;  // how often a class stands before and after the word, itself left out
    std::vector<int32_t> left, right;    // the classes that do
    std::vector<int32_t> row;            // a row of a table without the word
    std::vector<float> row_values;
    std::vector<int32_t> once;  // numbers of table rows whose class occurs once beside the word
    Tiles sums;
    int64_t twice = 0;  // how often the word follows itself
    int64_t total = 0;  // how often it occurs
};

class Exchange {
   public:
    Exchange(const NeighbourArrays& before, const NeighbourArrays& after, std::span<int32_t> classes, size_t n_classes)
        : before_(before),
          after_(after),
          classes_(classes.begin(), classes.end()),
          n_classes_(n_classes),
          boundary_(static_cast<int32_t>(n_classes)),
          rest_(boundary_ + 1),
          n_contexts_(n_classes + 2),
          stride_((n_contexts_ + 31) / 32 * 32),
          follows_(n_contexts_ * stride_),
          precedes_(n_contexts_ * stride_),
          values_(2 * n_contexts_ * stride_),
          gains_(2 * n_contexts_ * stride_),
          sizes_(stride_) {
        for (int32_t& c : classes_) c = c < 0 ? rest_ : c;
        classes_.push_back(boundary_);
        count();
        for (size_t row = 0; row < 2 * n_contexts_; ++row) rows_.push_back(gains_.data() + row * stride_);
    }

    size_t stride() const { return stride_; }
    std::span<const int32_t> classes() const { return {classes_.data(), classes_.size() - 1}; }

    // The best other class for a word, -1 if it should stay.
    int32_t propose(int32_t word, Scratch& s) const {
        const int32_t own = classes_[static_cast<size_t>(word)];
        collect(word, s);
        sum_gains(own, s);
        int32_t best = -1;
        for (int32_t b = 0; b < boundary_; ++b)
            if (b != own && (best < 0 || s.sums[at(b)] > s.sums[at(best)])) best = b;
        if (best < 0 || own == rest_) return best;
        return static_cast<double>(s.sums[at(best)]) > -change(own, s, -1) ? best : -1;
    }

    // Moves a word to a class if that raises the objective, or if it has no class yet. Returns the gain, and whether it moved.
    std::pair<double, bool> move(int32_t word, int32_t to, Scratch& s) {
        const int32_t own = classes_[static_cast<size_t>(word)];
        collect(word, s);
        double gain = change(own, s, -1);
        put(own, s, -1);
        gain += change(to, s, 1);
        const bool moved = gain > kLeastGain || own == rest_;
        put(moved ? to : own, s, 1);
        classes_[static_cast<size_t>(word)] = moved ? to : own;
        return {moved ? gain : 0.0, moved};
    }

    double objective() const {
        double sum = 0.0;
        for (size_t g = 0; g < n_contexts_; ++g) {
            for (size_t h = 0; h < n_contexts_; ++h) sum += n_log_n_(follows_[g * stride_ + h]);
            sum -= 2.0 * n_log_n_(sizes_[g]);
        }
        return sum;
    }

   private:
    static size_t at(int32_t id) { return static_cast<size_t>(id); }

    void count() {
        const int32_t n_words = static_cast<int32_t>(classes_.size()) - 1;
        for (int32_t w = 0; w < n_words; ++w) {
            const int32_t own = classes_[at(w)];
            auto each = [&](const NeighbourArrays& side, auto add) {
                for (int64_t i = side.offsets[at(w)]; i < side.offsets[at(w) + 1]; ++i)
                    add(side.words[static_cast<size_t>(i)], side.counts[static_cast<size_t>(i)]);
            };
            each(after_, [&](int32_t next, int32_t n) {
                follows_[cell(own, classes_[at(next)])] += n;
                sizes_[at(own)] += n;
            });
            each(before_, [&](int32_t previous, int32_t n) {
                if (previous != n_words) return;
                follows_[cell(boundary_, own)] += n;
                sizes_[at(boundary_)] += n;
            });
        }
        for (int32_t g = 0; g <= rest_; ++g)
            for (int32_t h = 0; h <= rest_; ++h) {
                precedes_[cell(h, g)] = follows_[cell(g, h)];
                renew(g, h);
            }
    }

    size_t cell(int32_t row, int32_t column) const { return at(row) * stride_ + at(column); }

    // Sets what is derived from N(g, h), in both tables.
    void renew(int32_t g, int32_t h) {
        const int64_t n = follows_[cell(g, h)];
        const double value = n_log_n_(n), grown = n_log_n_(n + 1);
        const size_t here = cell(g, h), there = n_contexts_ * stride_ + cell(h, g);
        values_[here] = values_[there] = static_cast<float>(value);
        gains_[here] = gains_[there] = static_cast<float>(grown - value);
    }

    // Counts the classes beside a word.
    void collect(int32_t word, Scratch& s) const {
        for (const int32_t g : s.left) s.before[at(g)] = 0;
        for (const int32_t g : s.right) s.after[at(g)] = 0;
        s.left.clear();
        s.right.clear();
        s.twice = s.total = 0;
        collect(word, before_, s.before, s.left, s.twice);
        s.twice = 0;
        s.total = collect(word, after_, s.after, s.right, s.twice);
    }
    int64_t collect(int32_t word, const NeighbourArrays& side, std::vector<int32_t>& counts, std::vector<int32_t>& found,
                    int64_t& twice) const {
        int64_t total = 0;
        for (int64_t i = side.offsets[at(word)]; i < side.offsets[at(word) + 1]; ++i) {
            const int32_t other = side.words[static_cast<size_t>(i)], n = side.counts[static_cast<size_t>(i)];
            total += n;
            if (other == word) {
                twice += n;
                continue;
            }
            const int32_t g = classes_[at(other)];
            if (counts[at(g)] == 0) found.push_back(g);
            counts[at(g)] += n;
        }
        return total;
    }

    // sums(b) = what the objective gains when the word, taken out of its own class, is put into class b. Not for b = own.
    void sum_gains(int32_t own, Scratch& s) const {
        s.once.clear();
        for (const int32_t g : s.left)
            if (s.before[at(g)] == 1 && g != own) s.once.push_back(g);
        for (const int32_t g : s.right)
            if (s.after[at(g)] == 1 && g != own) s.once.push_back(static_cast<int32_t>(n_contexts_) + g);
        sum_rows(s.sums.data(), rows_.data(), s.once.data(), nullptr, s.once.size(), stride_);
        add_side(own, s.left, s.before, s.right, s.after, follows_, values_.data(), s);
        add_side(own, s.right, s.after, s.left, s.before, precedes_, values_.data() + n_contexts_ * stride_, s);
        for (size_t b = 0; b < n_classes_; ++b)
            s.sums[b] -= static_cast<float>(2.0 * (n_log_n_(sizes_[b] + s.total) - n_log_n_(sizes_[b])));
        // Where the word stands beside class b itself, all of it adds to the one count N(b, b).
        auto correct = [&](int32_t b) {
            const int64_t n = follows_[cell(b, b)], x = s.before[at(b)], y = s.after[at(b)];
            s.sums[at(b)] += static_cast<float>(n_log_n_(n + x + y + s.twice) - n_log_n_(n + x) - n_log_n_(n + y) + n_log_n_(n));
        };
        if (s.twice > 0) {
            for (int32_t b = 0; b < boundary_; ++b) correct(b);
            return;
        }
        for (const int32_t b : s.left)
            if (s.after[at(b)] > 0) correct(b);
    }

    // Adds the gains of the classes on one side that occur more than once. The row of the own class still counts the word, as
    // the neighbour of what stands on its other side.
    void add_side(int32_t own, const std::vector<int32_t>& found, const std::vector<int32_t>& counts,
                  const std::vector<int32_t>& found_there, const std::vector<int32_t>& counts_there,
                  const std::vector<int32_t>& table, const float* table_values, Scratch& s) const {
        for (const int32_t g : found) {
            if (counts[at(g)] == 1 && g != own) continue;
            const int32_t* row = table.data() + at(g) * stride_;
            const float* values = table_values + at(g) * stride_;
            if (g == own) {
                std::copy_n(row, n_classes_, s.row.begin());
                std::copy_n(values, n_classes_, s.row_values.begin());
                for (const int32_t b : found_there) {
                    if (b >= boundary_ || b == own) continue;
                    s.row[at(b)] -= counts_there[at(b)];
                    s.row_values[at(b)] = static_cast<float>(n_log_n_(s.row[at(b)]));
                }
                row = s.row.data();
                values = s.row_values.data();
            }
            add_growth(s.sums.data(), row, values, static_cast<float>(counts[at(g)]), n_classes_);
        }
    }

    // How the objective changes when the word is put into a class (sign 1) or taken out of it (sign -1).
    double change(int32_t c, const Scratch& s, int64_t sign) const {
        auto change_of = [&](int64_t n, int64_t by) { return n_log_n_(n + sign * by) - n_log_n_(n); };
        double sum = -2.0 * change_of(sizes_[at(c)], s.total);
        for (const int32_t g : s.left)
            if (g != c) sum += change_of(precedes_[cell(c, g)], s.before[at(g)]);
        for (const int32_t g : s.right)
            if (g != c) sum += change_of(follows_[cell(c, g)], s.after[at(g)]);
        return sum + change_of(follows_[cell(c, c)], s.before[at(c)] + s.after[at(c)] + s.twice);
    }

    void put(int32_t c, const Scratch& s, int32_t sign) {
        auto add = [&](int32_t g, int32_t h, int64_t n) {
            follows_[cell(g, h)] += sign * static_cast<int32_t>(n);
            precedes_[cell(h, g)] = follows_[cell(g, h)];
            renew(g, h);
        };
        for (const int32_t g : s.left) add(g, c, s.before[at(g)]);
        for (const int32_t g : s.right) add(c, g, s.after[at(g)]);
        if (s.twice > 0) add(c, c, s.twice);
        sizes_[at(c)] += sign * static_cast<int32_t>(s.total);
    }

    const NeighbourArrays &before_, &after_;
    std::vector<int32_t> classes_;
    size_t n_classes_;
    int32_t boundary_, rest_;
    size_t n_contexts_, stride_;
    std::vector<int32_t> follows_, precedes_;  // N(row, column), and N(column, row)
    Tiles values_, gains_;                     // F(n) and F(n + 1) - F(n) of both, one after the other
    std::vector<const float*> rows_;
    std::vector<int32_t> sizes_;
    NLogN n_log_n_;
};

}  // namespace

void NeighbourArrays::check(size_t n_words) const {
    if (offsets.size() != n_words + 1 || words.size() != counts.size())
        throw std::invalid_argument("neighbours disagree with the number of words");
    check_offsets(offsets, words.size(), "neighbour offsets and words disagree");
    int64_t total = 0;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] < 0 || static_cast<size_t>(words[i]) > n_words || counts[i] < 1)
            throw std::invalid_argument("a neighbour is not a word, or its count is not positive");
        total += counts[i];
    }
    if (total > kMostTokens) throw std::invalid_argument("too many tokens for counts of 32 bits");
}

WordNeighbours count_neighbours(std::span<const int32_t> words, std::span<const int64_t> sentences, size_t n_words) {
    check_offsets(sentences, words.size(), "sentence offsets and words disagree");
    const int32_t boundary = static_cast<int32_t>(n_words);
    std::vector<int64_t> starts(n_words + 1);
    for (const int32_t w : words) {
        if (w < 0 || w >= boundary) throw std::invalid_argument("a word id is out of range");
        ++starts[static_cast<size_t>(w) + 1];
    }
    for (size_t w = 0; w < n_words; ++w) starts[w + 1] += starts[w];
    auto side = [&](auto neighbour_of) {
        std::vector<int32_t> all(words.size());
        std::vector<int64_t> next(starts);
        for (size_t s = 0; s + 1 < sentences.size(); ++s)
            for (int64_t i = sentences[s]; i < sentences[s + 1]; ++i)
                all[static_cast<size_t>(next[static_cast<size_t>(words[static_cast<size_t>(i)])]++)] = neighbour_of(i, s);
        Neighbours out;
        out.offsets.push_back(0);
        for (size_t w = 0; w < n_words; ++w) {
            const auto begin = all.begin() + starts[w], end = all.begin() + starts[w + 1];
            std::sort(begin, end);
            for (auto i = begin; i < end; ++i) {
                if (i > begin && *i == *(i - 1)) {
                    ++out.counts.back();
                    continue;
                }
                out.words.push_back(*i);
                out.counts.push_back(1);
            }
            out.offsets.push_back(static_cast<int64_t>(out.words.size()));
        }
        return out;
    };
    auto word_at = [&](int64_t i) { return words[static_cast<size_t>(i)]; };
    return {side([&](int64_t i, size_t s) { return i > sentences[s] ? word_at(i - 1) : boundary; }),
            side([&](int64_t i, size_t s) { return i + 1 < sentences[s + 1] ? word_at(i + 1) : boundary; })};
}

PassResult exchange_classes(const NeighbourArrays& before, const NeighbourArrays& after, std::span<int32_t> classes,
                            size_t n_classes, size_t threads) {
    before.check(classes.size());
    after.check(classes.size());
    if (n_classes < 1 || threads < 1) throw std::invalid_argument("there must be a class and a thread");
    for (const int32_t c : classes)
        if (c < -1 || c >= static_cast<int64_t>(n_classes)) throw std::invalid_argument("a class is out of range");
    Exchange exchange(before, after, classes, n_classes);
    const size_t n_words = classes.size();
    const size_t useful = useful_threads(threads, n_words / kBatch);
    Team team(useful);
    std::vector<Scratch> scratch(useful, Scratch(exchange.stride()));
    std::vector<int32_t> proposed(kBatch);
    PassResult result;
    for (size_t start = 0; start < n_words;) {
        const size_t size = std::min({kBatch, start / 16 + 1, n_words - start});
        team.run([&](size_t part, size_t parts) {
            for (size_t i = part; i < size; i += parts)
                proposed[i] = exchange.propose(static_cast<int32_t>(start + i), scratch[part]);
        });
        for (size_t i = 0; i < size; ++i) {
            if (proposed[i] < 0) continue;
            const auto [gain, moved] = exchange.move(static_cast<int32_t>(start + i), proposed[i], scratch[0]);
            result.gain += gain;
            result.moves += moved;
        }
        start += size;
    }
    std::copy(exchange.classes().begin(), exchange.classes().end(), classes.begin());
    result.objective = exchange.objective();
    return result;
}
