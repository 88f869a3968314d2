#include "inference/clique_pass.h"

#include <algorithm>
#include <stdexcept>

#include "core/logarithms.h"

using Source = EvidencePlan::Source;

CliquePass::CliquePass(const EvidencePlan& plan, Sweep sweep, bool logs) : plan_(plan), sweep_(sweep), logs_(logs) {
    if (logs && plan.lanes != 1) throw std::invalid_argument("logarithms need one lane");
    table_.resize(static_cast<size_t>(plan.largest) * plan.lanes);
    up_.resize(static_cast<size_t>(plan.message_cells) * plan.lanes);
    down_.resize(up_.size());
    masks_.resize(static_cast<size_t>(plan.mask_cells) * plan.lanes);
    sliced_.resize(static_cast<size_t>(plan.sliced_cells) * plan.lanes);
    log_least_.resize(plan.cliques.size() * plan.lanes);
    loss_.resize(log_least_.size());
}

void CliquePass::set_rows() {
    const size_t lanes = plan_.lanes;
    for (size_t l = 0; l < lanes; ++l) log_values_[l] = values_[l]->log_scale;
    lost_.fill(false);
    steep_.fill(false);
    const double none = logs_ ? -INFINITY : 0.0, one = logs_ ? 0.0 : 1.0;
    for (const EvidencePlan::Clique& clique : plan_.cliques)
        for (const Source& source : clique.sources) {
            if (source.kind == Source::kMask) {
                const int64_t n = plan_.left[source.variables[0]];
                for (int64_t k = 0; k < n; ++k)
                    for (size_t l = 0; l < lanes; ++l) {
                        const int32_t state = rows_[l][source.index];
                        masks_[static_cast<size_t>(source.start + k) * lanes + l] = state < 0 || state == k ? one : none;
                    }
            } else if (source.kind == Source::kSliced) {
                for (size_t l = 0; l < lanes; ++l) {
                    const double* from =
                        values_[l]->values(source.index) + plan_.offset(source.variables, source.strides, rows_[l]);
                    double* to = sliced_.data() + static_cast<size_t>(source.start) * lanes + l;
                    source.slice.each_cell(
                        [&](int64_t cell, int64_t place) { to[cell * static_cast<int64_t>(lanes)] = from[place]; });
                }
            }
        }
}

const double* CliquePass::source(const Source& source) const {
    const auto start = source.start * static_cast<int64_t>(plan_.lanes);
    switch (source.kind) {
        case Source::kPotential: {
            const int64_t offset = plan_.lanes == 1 ? plan_.offset(source.variables, source.strides, rows_[0]) : 0;
            return (logs_ ? values_[0]->logs(source.index) : values_[0]->values(source.index)) + offset;
        }
        case Source::kSliced: return sliced_.data() + start;
        case Source::kMask: return masks_.data() + start;
        default: return up_.data() + start;
    }
}

const double* CliquePass::fill(size_t i) {
    const EvidencePlan::Clique& clique = plan_.cliques[i];
    if (clique.sources.empty()) {
        std::fill_n(table_.data(), clique.cells * static_cast<int64_t>(plan_.lanes), logs_ ? 0.0 : 1.0);
        return table_.data();
    }
    for (const Source& one : clique.sources) {
        const bool shared = one.kind == Source::kPotential;
        if (&one == &clique.sources.front())
            Lanes{plan_.lanes}.copy_in(one.walk, table_.data(), source(one), shared);
        else
            multiply(one.walk, source(one), shared);
    }
    return table_.data();
}

void CliquePass::multiply(const TableWalk& walk, const double* part, bool shared) {
    if (logs_)
        log_multiply_in(walk, table_.data(), part);
    else
        Lanes{plan_.lanes}.multiply_in(walk, table_.data(), part, shared);
}

void CliquePass::sum_out(const TableWalk& walk, const double* table, double* part, int64_t part_cells) const {
    const auto n = static_cast<size_t>(part_cells);
    std::fill_n(part, n * plan_.lanes, logs_ ? -INFINITY : 0.0);
    if (logs_)
        log_sum_out(walk, table, part, n);
    else
        Lanes{plan_.lanes}.sum_out(walk, table, part);
}

void CliquePass::up(std::span<const int32_t* const> rows, std::span<const PotentialValues* const> values) {
    std::ranges::copy(rows, rows_.begin());
    std::ranges::copy(values, values_.begin());
    set_rows();
    for (size_t i = plan_.cliques.size(); i-- > 0;) {
        fill(i);
        const EvidencePlan::Clique& clique = plan_.cliques[i];
        double* message = up_.data() + start(i);
        if (sweep_ == Sweep::kSum) {
            sum_out(clique.own, table_.data(), message, clique.separator_cells);
        } else {
            std::fill_n(message, clique.separator_cells * static_cast<int64_t>(plan_.lanes), logs_ ? -INFINITY : 0.0);
            if (logs_)
                log_max_out(clique.own, table_.data(), message);
            else
                Lanes{plan_.lanes}.max_out(clique.own, table_.data(), message);
        }
        std::array<double, kLanes> top, least;
        scale(message, clique.separator_cells, top, least);
        if (logs_)
            log_values_[0] += top[0];
        else
            bound_loss(i, top, least);
    }
}

// Divides a message by its maximum, in every lane, and tells the maximum and the least number above zero after that.
void CliquePass::scale(double* message, int64_t cells, std::array<double, kLanes>& top, std::array<double, kLanes>& least) const {
    const size_t lanes = plan_.lanes;
    top.fill(logs_ ? -INFINITY : 0.0);
    least.fill(INFINITY);
    for (int64_t s = 0; s < cells; ++s)
        for (size_t l = 0; l < lanes; ++l) {
            const double value = message[static_cast<size_t>(s) * lanes + l];
            top[l] = std::max(top[l], value);
            least[l] = value > 0.0 && value < least[l] ? value : least[l];
        }
    if (logs_) {
        if (top[0] > -INFINITY)
            for (int64_t s = 0; s < cells; ++s) message[s] -= top[0];
        return;
    }
    std::array<double, kLanes> factor;
    for (size_t l = 0; l < lanes; ++l) {
        factor[l] = top[l] < kLeast ? 1.0 : 1.0 / top[l];
        least[l] *= factor[l];
    }
    for (int64_t s = 0; s < cells; ++s)
        for (size_t l = 0; l < lanes; ++l) message[static_cast<size_t>(s) * lanes + l] *= factor[l];
}

// Adds the scale of clique i's message to the values, and bounds what underflow may have taken from it.
void CliquePass::bound_loss(size_t i, const std::array<double, kLanes>& top, const std::array<double, kLanes>& least) {
    const EvidencePlan::Clique& clique = plan_.cliques[i];
    const size_t lanes = plan_.lanes;
    const double terms = static_cast<double>(clique.cells) / static_cast<double>(clique.separator_cells);
    for (size_t l = 0; l < lanes; ++l) {
        double log_least = 0.0, loss = 0.0;
        for (const int32_t p : plan_.tree.own[i]) log_least += values_[l]->log_least[p];
        for (const int32_t j : plan_.tree.children[i]) {
            log_least += log_least_[static_cast<size_t>(j) * lanes + l];
            loss += loss_[static_cast<size_t>(j) * lanes + l];
        }
        if (log_least < portable_log(kLeast)) loss += kLeast;
        log_least_[i * lanes + l] = portable_log(least[l]);
        loss = loss > 0.0 ? loss * terms / top[l] : 0.0;
        loss_[i * lanes + l] = loss;
        lost_[l] = lost_[l] || top[l] < kLeast || loss > kLargestLoss;
        steep_[l] = steep_[l] || log_least < portable_log(kLeast) / 2.0;
        log_values_[l] += portable_log(top[l]);
    }
}

// Turns the separator's table into the message down to clique j.
void CliquePass::divide(size_t j) {
    const auto n = cells(j) * static_cast<int64_t>(plan_.lanes);
    double* margin = down_.data() + start(j);
    const double* message = up_.data() + start(j);
    if (logs_) {
        for (int64_t s = 0; s < n; ++s)
            if (margin[s] > -INFINITY) margin[s] -= message[s];
    } else {
        for (int64_t s = 0; s < n; ++s) margin[s] = message[s] > 0.0 ? margin[s] / message[s] : 0.0;
    }
    std::array<double, kLanes> top, least;
    scale(margin, cells(j), top, least);
    for (size_t l = 0; l < plan_.lanes && !logs_; ++l) lost_[l] = lost_[l] || top[l] < kLeast;
}

double CliquePass::value_at(size_t i, size_t lane, const int32_t* states) const {
    double found = logs_ ? 0.0 : 1.0;
    for (const Source& one : plan_.cliques[i].sources) {
        int64_t place = 0;
        const bool whole = one.kind == Source::kPotential || one.kind == Source::kSliced;
        for (size_t k = 0; k < one.variables.size(); ++k) {
            const int32_t v = one.variables[k];
            if (whole || plan_.left[v] > 1) place += one.strides[k] * states[v];
        }
        double value;
        if (whole)
            value = logs_ ? values_[lane]->logs(one.index)[place] : values_[lane]->values(one.index)[place];
        else
            value = source(one)[static_cast<size_t>(place) * plan_.lanes + lane];
        found = logs_ ? found + value : found * value;
    }
    return found;
}
