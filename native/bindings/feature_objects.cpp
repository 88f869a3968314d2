// See feature_objects.h.
#include "bindings/feature_objects.h"

#include <cmath>

#include "bindings/arrays.h"
#include "bindings/objects.h"

namespace {

// A type of a module, kept for ever.
nb::handle type_of(const char* module, const char* name) { return nb::object(nb::module_::import_(module).attr(name)).release(); }

bool is_array(nb::handle object) {
    static const nb::handle array = type_of("numpy", "ndarray");
    return nb::isinstance(object, array);
}

bool is_numpy_bool(nb::handle object) {
    static const nb::handle type = type_of("numpy", "bool_");
    return object.type().is(type);
}

bool is_mapping(nb::handle object) {
    static const nb::handle mapping = type_of("collections.abc", "Mapping");
    return nb::isinstance(object, mapping);
}

bool holds_numbers(nb::handle array) {
    return std::string_view("fiub").find(nb::cast<char>(array.attr("dtype").attr("kind"))) != std::string_view::npos;
}

// The object as Python shows it, but not more than a few characters of it.
std::string shown(nb::handle object) {
    constexpr Py_ssize_t most = 60;
    try {
        const nb::str text = nb::repr(object);
        if (PyUnicode_GetLength(text.ptr()) <= most) return text.c_str();
        return std::string(nb::steal<nb::str>(PyUnicode_Substring(text.ptr(), 0, most)).c_str()) + "...";
    } catch (nb::python_error&) {
        return "an object of the type " + nb::cast<std::string>(object.type().attr("__name__"));
    }
}

std::string shown(std::string_view text) { return shown(nb::str(text.data(), text.size())); }

// Calls use(element) for the elements of a list, which may change meanwhile, or of another iterable.
template <typename Use>
void each_in(nb::handle elements, Use use) {
    const auto one = [&](nb::handle element) {
        use(element);
        return true;
    };
    if (PyList_Check(elements.ptr()))
        each_of(elements, one);
    else
        for (const nb::handle element : nb::iter(elements)) use(element);
}

// Adds keys to a prefix for as long as it lives.
class Nested {
   public:
    Nested(std::string& prefix, std::string_view key) : prefix_(prefix), size_(prefix.size()) {
        prefix.append(key).push_back(kJoiner);
    }
    ~Nested() { prefix_.resize(size_); }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    std::string& prefix_;
    size_t size_;
};

}  // namespace

// A container that is being read. References are counted in memory that threads share, so none is taken until Python code can
// run, which could free the container.
class FeatureReader::Container {
   public:
    Container(Container*& innermost, nb::handle object) : innermost_(innermost), outer_(innermost), object_(object) {
        innermost_ = this;
        if constexpr (!kHasLock) keep();
    }
    ~Container() { innermost_ = outer_; }
    Container(const Container&) = delete;
    Container& operator=(const Container&) = delete;

    // Takes references to this container and to those around it.
    void keep() {
        if (kept_.is_valid()) return;
        kept_ = nb::borrow(object_);
        if (outer_ != nullptr) outer_->keep();
    }

   private:
    Container*& innermost_;
    Container* outer_;
    nb::handle object_;
    nb::object kept_;
};

void FeatureReader::read(nb::handle sentence) {
    token_ = 0;
    const auto one = [&](nb::handle token) {
        read_token(token);
        out_.end_token();
        ++token_;
    };
    if (PyList_Check(sentence.ptr())) return each_in(sentence, one);
    if (PyUnicode_Check(sentence.ptr()) || PyBytes_Check(sentence.ptr()) || is_mapping(sentence) ||
        !nb::hasattr(sentence, "__iter__"))
        throw BadFeature("a sentence must be a list with the features of each token, not " + shown(sentence), true);
    each_in(sentence, one);
}

void FeatureReader::read_token(nb::handle token) {
    if (PyDict_Check(token.ptr())) return read_mapping(token);
    if (PyList_CheckExact(token.ptr())) return read_elements(token);
    Container container(innermost_, token);
    container.keep();
    if (PyUnicode_Check(token.ptr()) || PyBytes_Check(token.ptr())) refuse_token(token);
    if (is_array(token) && holds_numbers(token)) return read_array(token);
    if (is_mapping(token)) return read_mapping(nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(token));
    if (!nb::hasattr(token, "__iter__")) refuse_token(token);
    read_elements(token);
}

void FeatureReader::read_mapping(nb::handle mapping) {
    Container container(innermost_, mapping);
    const nb::ft_object_guard guard(mapping);  // without an interpreter lock, another thread could change the mapping
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(mapping.ptr(), &at, &key, &value);) {
        if (value == Py_False && !list_false_ && Py_TYPE(key) == &PyUnicode_Type) continue;
        const std::string_view name = text(key, "the name of a feature");
        if (PyUnicode_CheckExact(value)) {
            out_.add(prefix_, name, text(value, "the value of the feature", name));
        } else if (value == Py_True) {
            out_.add(prefix_, name, 1.0f);
        } else if (value == Py_False) {
            if (list_false_) out_.add(prefix_, name, kFalse);
        } else if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) {
            out_.add(prefix_, name, number(name, value));
        } else if (PyDict_CheckExact(value) || PyList_CheckExact(value)) {
            read_nested(name, value);
        } else {  // may call Python code, which may change the mapping
            const nb::object kept_key = nb::borrow(key), kept_value = nb::borrow(value);
            container.keep();
            read_other(name, kept_value);
        }
    }
}

void FeatureReader::read_other(std::string_view key, nb::handle value) {
    PyObject* object = value.ptr();
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        out_.add(prefix_, key, text(value, "the value of the feature", key));
    } else if (PyDict_Check(object) || PyList_Check(object) || PyAnySet_Check(object)) {
        if (PyFrozenSet_Check(object)) refuse_value(key, value);
        read_nested(key, value);
    } else if (is_numpy_bool(value)) {
        const bool holds = PyObject_IsTrue(object) != 0;
        if (holds || list_false_) out_.add(prefix_, key, holds ? 1.0f : kFalse);
    } else if (is_array(value) && nb::cast<size_t>(value.attr("ndim")) > 0) {
        if (nb::cast<size_t>(value.attr("ndim")) != 1 || !holds_numbers(value)) refuse_value(key, value);
        const Nested nested(prefix_, key);
        read_array(value);
    } else {
        out_.add(prefix_, key, number(key, value));
    }
}

void FeatureReader::read_nested(std::string_view key, nb::handle value) {
    if (++depth_ > kDeepest) refuse("features are nested more than " + std::to_string(kDeepest) + " deep", false);
    const Nested nested(prefix_, key);
    if (PyDict_Check(value.ptr()))
        read_mapping(value);
    else
        read_elements(value);
    --depth_;
}

void FeatureReader::read_elements(nb::handle elements) {
    Container container(innermost_, elements);
    each_in(elements, [&](nb::handle element) { read_element(element); });
}

void FeatureReader::read_element(nb::handle element) {
    out_.add_element(prefix_, text(element, prefix_.empty() ? "the name of a feature" : "an element of the feature"));
}

void FeatureReader::read_array(nb::handle array) {
    if (nb::cast<size_t>(array.attr("ndim")) != 1) refuse_token(array);
    const auto copy = [&](const auto& numbers) {
        const size_t bad = out_.add_array(prefix_, numbers.data(), numbers.shape(0));
        if (bad < numbers.shape(0)) finite(std::to_string(bad), static_cast<double>(numbers(bad)));
    };
    In<float> single;
    if (nb::try_cast(array, single, false)) return copy(single);
    copy(nb::cast<In<double>>(array));
}

float FeatureReader::number(std::string_view key, nb::handle value) const {
    const double found = PyFloat_AsDouble(value.ptr());
    if (found == -1.0 && PyErr_Occurred() != nullptr) {
        const bool wrong_type = PyErr_ExceptionMatches(PyExc_TypeError);
        if (!wrong_type && !PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
            throw nb::python_error();
        PyErr_Clear();
        if (wrong_type) refuse_value(key, value);
        refuse("the feature " + shown(full_name(key)) + " has the value " + shown(value) + ", which is not a number in range",
               false);
    }
    return finite(key, found);
}

float FeatureReader::finite(std::string_view key, double value) const {
    if (!is_float(value)) {
        const char* remedy =
            std::isfinite(value) ? "; scale it, the largest number is 3.4e38" : "; omit the feature if its value is unknown";
        refuse("the feature " + shown(full_name(key)) + " is " + shown(nb::float_(value)) + remedy, false);
    }
    return static_cast<float>(value) + 0.0f;  // -0 becomes 0: see kFalse
}

std::string_view FeatureReader::text(nb::handle object, const char* what, std::string_view key) const {
    Py_ssize_t size = 0;
    if (PyUnicode_CheckExact(object.ptr())) {
        if (const char* data = PyUnicode_AsUTF8AndSize(object.ptr(), &size)) return {data, static_cast<size_t>(size)};
        PyErr_Clear();
    }
    return unusual_text(object, what, key);
}

std::string_view FeatureReader::unusual_text(nb::handle object, const char* what, std::string_view key) const {
    const auto refuse_text = [&](const char* why, bool wrong_type) {
        const nb::object kept = nb::borrow(object);  // showing it may call Python code
        const std::string subject = what + (key.empty() && prefix_.empty() ? "" : " " + shown(full_name(key)));
        refuse(subject + why + shown(kept), wrong_type);
    };
    Py_ssize_t size = 0;
    if (PyUnicode_Check(object.ptr())) {
        if (const char* data = PyUnicode_AsUTF8AndSize(object.ptr(), &size)) return {data, static_cast<size_t>(size)};
        PyErr_Clear();
        refuse_text(" cannot be encoded as UTF-8: ", false);
    }
    char* data = nullptr;
    if (!PyBytes_Check(object.ptr())) refuse_text(" must be a string, not ", true);
    if (PyBytes_AsStringAndSize(object.ptr(), &data, &size) < 0) throw nb::python_error();
    if (!nb::steal(PyUnicode_DecodeUTF8(data, size, nullptr)).is_valid()) {
        PyErr_Clear();
        refuse_text(" is given as bytes that are not UTF-8: ", false);
    }
    return {data, static_cast<size_t>(size)};
}

std::string FeatureReader::full_name(std::string_view key) const {
    return key.empty() && !prefix_.empty() ? prefix_.substr(0, prefix_.size() - 1) : prefix_ + std::string(key);
}

void FeatureReader::refuse(const std::string& message, bool wrong_type) const {
    throw BadFeature(message, wrong_type, sentence_, static_cast<int64_t>(token_));
}

void FeatureReader::refuse_value(std::string_view key, nb::handle value) const {
    refuse("the feature " + shown(full_name(key)) + " has the value " + shown(value) +
               "; use a string, a number, a bool, an array of numbers, or a dict, list or set of features",
           true);
}

void FeatureReader::refuse_token(nb::handle token) const {
    std::string message = "the features of a token must be a dict, a list of names or an array of numbers, not " + shown(token);
    if (PyUnicode_Check(token.ptr())) message += "; for one feature, write [" + shown(token) + "]";
    refuse(message, true);
}
