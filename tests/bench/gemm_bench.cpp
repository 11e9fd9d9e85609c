// gemm beside the sgemm of OpenBLAS, oneDNN and BLIS, in one process, call by call:
//
//   gemm_bench [--threads N] [--rounds N] [--slice MS] [words…]   cases whose names hold one of the words
//   gemm_bench --list                                             the names
//
// Lines are `ratio <case> <threads>t vs <peer>: 1.23`, where above 1 means that we are faster. The peers
// choose their instructions themselves: to compare AVX2 with AVX2 on a newer machine, start it with
// ATTN_KERNELS=v3 OPENBLAS_CORETYPE=Haswell ONEDNN_MAX_CPU_ISA=AVX2 BLIS_ARCH_TYPE=3 in the environment.
#include <fmt/core.h>  // print
#include <omp.h>       // omp_set_num_threads

#include <cstdlib>  // aligned_alloc, atoi, atof, free
#include <memory>   // unique_ptr
#include <random>   // mt19937
#include <string>   // string
#include <vector>   // vector

#include "core/gemm.hpp"
#include "core/parallel.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/measure.hpp"

#ifdef ATTN_BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef ATTN_BENCH_ONEDNN
#include <dnnl.h>
#endif
#ifdef ATTN_BENCH_BLIS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <blis.h>
#pragma GCC diagnostic pop
#endif

using namespace attn;

namespace {

struct Case {
  std::string name;
  Index m, n, k;
  bool transpose_a = false, transpose_b = false;
  Index count = 1;
  double openblas_bar = 1, onednn_bar = 0.95;  // ratios to reach; 0 for none
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (Index s : {16, 32, 64, 128, 256, 512, 768, 1024, 2048}) {
    const double bar = s <= 32 ? 1.5 : s == 64 ? 1.3 : s <= 1024 ? 1.0 : 0.97;
    cases.push_back({.name = fmt::format("square-{}", s), .m = s, .n = s, .k = s, .openblas_bar = bar});
  }
  const Index shapes[][3] = {{640, 128, 128},  {640, 512, 128},   {640, 128, 512},
                             {2048, 512, 512}, {2048, 2048, 512}, {2048, 512, 2048}};
  for (const auto& s : shapes) {
    for (int form = 0; form < 3; ++form) {
      const char* suffix[] = {"", "-ta", "-tb"};
      cases.push_back({.name = fmt::format("shape-{}x{}x{}{}", s[0], s[1], s[2], suffix[form]),
                       .m = s[0],
                       .n = s[1],
                       .k = s[2],
                       .transpose_a = form == 1,
                       .transpose_b = form == 2});
    }
  }
  for (bool tb : {false, true}) {
    const char* suffix = tb ? "-tb" : "";
    cases.push_back({.name = fmt::format("batched-256x20x20x16{}", suffix),
                     .m = 20,
                     .n = 20,
                     .k = 16,
                     .transpose_b = tb,
                     .count = 256,
                     .openblas_bar = 1.5});
    cases.push_back({.name = fmt::format("batched-256x64x64x64{}", suffix),
                     .m = 64,
                     .n = 64,
                     .k = 64,
                     .transpose_b = tb,
                     .count = 256,
                     .openblas_bar = 1.5});
  }
  for (Index n : {128, 512, 2048}) {
    for (Index k : {128, 512, 2048}) {
      for (bool tb : {false, true}) {
        cases.push_back({.name = fmt::format("row-1x{}x{}{}", n, k, tb ? "-tb" : ""),
                         .m = 1,
                         .n = n,
                         .k = k,
                         .transpose_b = tb,
                         .openblas_bar = 0,
                         .onednn_bar = 1.0});
      }
    }
  }
  return cases;
}

// Random numbers at the start of a cache line, as tensors are.
struct Numbers {
  std::unique_ptr<real, void (*)(void*)> memory;
  explicit Numbers(Index n)
      : memory(static_cast<real*>(std::aligned_alloc(64, (n * sizeof(real) + 63) / 64 * 64)), std::free) {
    std::mt19937 engine(1);
    for (Index i = 0; i < n; ++i) memory.get()[i] = real(engine() % 2001) / 1000 - 1;
  }
  real* data() const { return memory.get(); }
};

struct Settings {
  int threads = 1, rounds = 30;
  double slice = 0.002;
  bench::Choice choice;
};

void run(const Case& one, const Settings& settings) {
  const Index m = one.m, n = one.n, k = one.k;
  const Numbers a(one.count * m * k), b(one.count * k * n), c(one.count * m * n);
  const ConstMatrix A = one.transpose_a ? ConstMatrix{a.data(), k, m}.T() : ConstMatrix{a.data(), m, k};
  const ConstMatrix B = one.transpose_b ? ConstMatrix{b.data(), n, k}.T() : ConstMatrix{b.data(), k, n};
  const Matrix C{c.data(), m, n};
  const ConstMatrices all_A(A, {one.count}, {m * k}), all_B(B, {one.count}, {k * n});
  const Matrices all_C(C, {one.count}, {m * n});

  std::vector<std::string> names = {"ours"};
  std::vector<double> bars = {0};
  std::vector<std::function<void()>> functions = {
      [&] { one.count == 1 ? gemm(A, B, C) : gemm(all_A, all_B, all_C); }};
#ifdef ATTN_BENCH_OPENBLAS
  openblas_set_num_threads(settings.threads);
  names.push_back("openblas");
  bars.push_back(one.openblas_bar);
  functions.push_back([&] {
    for (Index i = 0; i < one.count; ++i)
      cblas_sgemm(CblasRowMajor, A.transposed ? CblasTrans : CblasNoTrans,
                  B.transposed ? CblasTrans : CblasNoTrans, int(m), int(n), int(k), 1, all_A[i].data,
                  int(A.stride), all_B[i].data, int(B.stride), 0, all_C[i].data, int(C.stride));
  });
#endif
#ifdef ATTN_BENCH_ONEDNN
  names.push_back("onednn");
  bars.push_back(one.onednn_bar);
  functions.push_back([&] {
    for (Index i = 0; i < one.count; ++i)
      dnnl_sgemm(A.transposed ? 'T' : 'N', B.transposed ? 'T' : 'N', m, n, k, 1, all_A[i].data, A.stride,
                 all_B[i].data, B.stride, 0, all_C[i].data, C.stride);
  });
#endif
#ifdef ATTN_BENCH_BLIS
  // By its own interface, which takes the steps between rows and columns: cblas_sgemm is OpenBLAS's here.
  bli_thread_set_num_threads(settings.threads);
  names.push_back("blis");
  bars.push_back(one.openblas_bar);
  functions.push_back([&] {
    float alpha = 1, beta = 0;
    const auto rows = [](const ConstMatrix& x) { return x.transposed ? Index{1} : x.stride; };
    const auto columns = [](const ConstMatrix& x) { return x.transposed ? x.stride : Index{1}; };
    for (Index i = 0; i < one.count; ++i)
      bli_sgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &alpha, const_cast<float*>(all_A[i].data),
                rows(A), columns(A), const_cast<float*>(all_B[i].data), rows(B), columns(B), &beta,
                all_C[i].data, C.stride, 1);
  });
#endif
  // The peak takes part as one more contestant: a core's clock changes from minute to minute.
  constexpr Index burn_steps = 5000;
  functions.push_back([&] { kernels().burn(burn_steps); });
  const std::vector<double> times =
      bench::best_times(functions, settings.rounds, settings.slice,
                        settings.threads == 1 ? bench::thread_seconds : bench::seconds);
  const double gflop = 2e-9 * double(one.count * m * n * k);
  for (std::size_t i = 1; i < names.size(); ++i) {
    const double ratio = times[i] / times[0];
    fmt::print("ratio {} {}t vs {}: {:.2f}{}\n", one.name, settings.threads, names[i], ratio,
               ratio < bars[i] ? fmt::format("  (below {})", bars[i]) : "");
  }
  const double peak = settings.threads * 1e-9 * kernels().burn(burn_steps) / times.back();
  fmt::print("peak {} {}t: {:.0f}%  ({:.1f} GFLOP/s, {:.2f} us)\n", one.name, settings.threads,
             100 * gflop / times[0] / peak, gflop / times[0], times[0] * 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      settings.threads = std::atoi(argv[++i]);
    } else if (word == "--rounds" && i + 1 < argc) {
      settings.rounds = std::atoi(argv[++i]);
    } else if (word == "--slice" && i + 1 < argc) {
      settings.slice = std::atof(argv[++i]) / 1000;
    } else if (word == "--list") {
      settings.choice.list = true;
    } else {
      settings.choice.words.push_back(word);
    }
  }
  set_thread_count(settings.threads);
  omp_set_num_threads(settings.threads);
  if (!settings.choice.list)
    fmt::print("kernels {}, peak {:.1f} GFLOP/s a thread\n", kernels().name, bench::fma_peak_gflops());
  for (const Case& one : all_cases())
    if (settings.choice.wants(one.name)) run(one, settings);
  bench::noise.print(settings.threads);
}
