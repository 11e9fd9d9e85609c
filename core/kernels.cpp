#include "core/kernels.hpp"

#include <cstdlib>      // getenv
#include <string>       // string
#include <string_view>  // string_view
#include <vector>       // vector

#include "core/error.hpp"

// Each target's sources define these in a namespace of its own.
#define ATTN_DECLARE_TARGET(target)     \
  namespace attn::target {              \
  MathKernels math_kernels();           \
  RowKernels row_kernels();             \
  UpdateKernels update_kernels();       \
  AttentionKernels attention_kernels(); \
  const GemmKernels* gemm_kernels();    \
  int vector_width();                   \
  }
ATTN_DECLARE_TARGET(baseline)
ATTN_DECLARE_TARGET(v3)
ATTN_DECLARE_TARGET(v4)

#define ATTN_TABLE(target)                                                                                \
  Kernels {                                                                                               \
    target::math_kernels(), target::row_kernels(), target::update_kernels(), target::attention_kernels(), \
        target::gemm_kernels(), #target, target::vector_width()                                           \
  }

namespace attn {
namespace {

// A table is filled by functions of its target, so only after the check that this CPU can run them.
std::vector<Kernels> detect() {
  std::vector<Kernels> sets;
#ifdef ATTN_HAS_baseline
  sets.push_back(ATTN_TABLE(baseline));
#endif
#if defined(ATTN_HAS_v3) || defined(ATTN_HAS_v4)
  const bool has_v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
#ifdef ATTN_HAS_v3
  if (has_v3) sets.push_back(ATTN_TABLE(v3));
#endif
#ifdef ATTN_HAS_v4
  const bool has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (has_v3 && has_v4) sets.push_back(ATTN_TABLE(v4));
#endif
  if (sets.empty())
    fail("this program was built for another processor, which has more than this one: build it again here");
  return sets;
}

const std::vector<Kernels>& sets() {
  static const std::vector<Kernels> detected = detect();
  return detected;
}

const Kernels& find(std::string_view name) {
  std::string known;
  for (const Kernels& set : sets()) {
    if (name == set.name) return set;
    known += known.empty() ? set.name : std::string(", ") + set.name;
  }
  fail("kernels: this program on this machine has no set '{}'; ATTN_KERNELS may be one of: {}", name, known);
}

const Kernels*& current() {
  static const Kernels* chosen = [] {
    const char* wanted = std::getenv("ATTN_KERNELS");
    return wanted && *wanted ? &find(wanted) : &sets().back();
  }();
  return chosen;
}

}  // namespace

const Kernels& kernels() { return *current(); }

int kernel_set_count() { return int(sets().size()); }
const Kernels& kernel_set(int i) { return sets().at(i); }

void use_kernels(const char* name) { current() = &find(name); }

}  // namespace attn
