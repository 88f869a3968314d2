// Tests of the core without Python: functions marked TEST, which CHECK conditions.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <vector>

struct Failure : std::exception {
    explicit Failure(std::string text) : text(std::move(text)) {}
    const char* what() const noexcept override { return text.c_str(); }
    std::string text;
};

struct Test {
    const char* name;
    std::function<void()> run;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

#define TEST(name)                                                             \
    static void name();                                                        \
    static const int name##_is_listed = (tests().push_back({#name, name}), 0); \
    static void name()
#define CHECK(condition) \
    if (!(condition)) throw Failure(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #condition)

// Whether work() throws an exception with this message.
template <typename Work>
bool throws(const std::string& message, Work work) {
    try {
        work();
    } catch (const std::exception& error) {
        return error.what() == message;
    }
    return false;
}
