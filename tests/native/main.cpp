// Runs all tests, or those whose names contain the argument. Exits with 1 if one fails.
#include <cstdio>
#include <string_view>

#include "check.h"

int main(int count, char** arguments) {
    int run = 0, failed = 0;
    for (const Test& test : tests()) {
        if (count > 1 && std::string_view(test.name).find(arguments[1]) == std::string_view::npos) continue;
        ++run;
        try {
            test.run();
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", test.name, error.what());
        }
    }
    std::printf("%d tests of the core, %d failed\n", run, failed);
    return failed > 0 || run == 0;
}
