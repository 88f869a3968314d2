// See attribute_names.h.
#include "features/attribute_names.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

void FoundFeatures::clear() {
    offsets.assign(1, 0);
    ids.clear();
    values.clear();
    plain = true;
}

Attributes FoundFeatures::view() const {
    Attributes seen{{{offsets.data(), offsets.size()}, {ids.data(), ids.size()}}, std::nullopt};
    if (!plain) seen.values = Array<float>(values.data(), values.size());
    return seen;
}

AttributeNames::AttributeNames(const StringTable& names, char joiner, const std::optional<std::vector<NamedBins>>& bins)
    : joiner_(joiner), binned_(bins.has_value()) {
    check_offsets(names.offsets, names.blob.size(), "names and their offsets disagree");
    intern_all(names, names_, "a name is given twice");
    if (!bins) return;
    for (const NamedBins& given : *bins) add_bins(given);
}

void AttributeNames::add_bins(const NamedBins& given) {
    const auto& [name, edges, bins] = given;
    if (bins.size() != edges.size() + 1) throw std::invalid_argument("bins and their edges disagree");
    if (numeric_.intern(name) != static_cast<int32_t>(bins_.size())) throw std::invalid_argument("a name has bins twice");
    AttributeBins& added = bins_.emplace_back(AttributeBins{{edges.begin(), edges.end()}, {}});
    for (const std::string& bin : bins) added.ids.push_back(names_.find(bin));
}

std::string_view AttributeNames::joined(std::string_view name, int32_t key_length, std::string& buffer) const {
    if (joiner_ == kJoiner || key_length < 0) return name;
    buffer.assign(name);
    buffer[static_cast<size_t>(key_length)] = joiner_;
    return buffer;
}

void AttributeNames::add(int32_t id, std::string_view name, float value, FoundFeatures& found) const {
    if (binned_) {
        const int32_t numeric = numeric_.size() > 0 ? numeric_.find(name) : -1;
        if (numeric >= 0) {
            const auto& [edges, ids] = bins_[static_cast<size_t>(numeric)];
            id = ids[std::upper_bound(edges.begin(), edges.end(), static_cast<double>(value)) - edges.begin()];
        }
        value = 1.0f;
    }
    if (id >= 0) found.add(id, value);
}

void AttributeNames::find(const NamedFeatures& sentence, ArrayIds& arrays, FoundFeatures& found) const {
    std::string buffer;
    size_t token = 0;
    const auto too_large = [&](float value) { return std::abs(value) > kLargestValue && !binned_; };
    sentence.each(
        [&](std::string_view name, int32_t key_length, float value) {
            if (is_false(value)) return;
            name = joined(name, key_length, buffer);
            if (too_large(value)) throw TooLargeValue(name, value, token);
            add(names_.find(name), name, value, found);
        },
        [&](std::string_view prefix, int32_t, const float* numbers, size_t width) {
            const int32_t* ids = arrays.get(prefix, width, [&](const std::string& name) { return names_.find(name); });
            for (size_t i = 0; i < width; ++i) {
                if (too_large(numbers[i])) throw TooLargeValue(std::string(prefix) + std::to_string(i), numbers[i], token);
                if (numeric_.size() > 0) buffer.assign(prefix).append(std::to_string(i));
                add(ids[i], buffer, numbers[i], found);
            }
        },
        [&] {
            found.end_token();
            ++token;
        });
}

int32_t AttributeInterner::intern(std::string_view name, int32_t key_length) {
    const int32_t id = names_.intern(name);
    if (static_cast<size_t>(id) == key_lengths_.size()) key_lengths_.push_back(key_length);
    return id;
}

void AttributeInterner::add(const NamedFeatures& sentence, FoundFeatures& found) {
    sentence.each(
        [&](std::string_view name, int32_t key_length, float value) {
            if (keep_false_ || !is_false(value)) found.add(intern(name, key_length), value + 0.0f);
        },
        [&](std::string_view prefix, int32_t key_length, const float* numbers, size_t width) {
            const int32_t* ids = arrays_.get(prefix, width, [&](const std::string& name) { return intern(name, key_length); });
            for (size_t i = 0; i < width; ++i) found.add(ids[i], numbers[i]);
        },
        [&] { found.end_token(); });
}
