// What most sources include of others' code. g++ reads it precompiled, which only saves time: see the
// Makefile. Every source includes what it uses all the same; clang++ does without this file.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>
