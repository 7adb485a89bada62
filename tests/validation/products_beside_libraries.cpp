// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#include "core/gemm/gemm.hpp"
#include "tests/validation/product_libraries.hpp"

#include <cblas.h>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// Compares the speed of matrix products: the program's, OpenBLAS's, and if present oneDNN's and MKL's, in turn.
///
///     products_beside_libraries [--mkl libmkl_rt.so] [--turns 7] [--rows 2048] [--models tiny,...] [--types fp32,bf16]
///
/// The shapes are those of a training step with `rows` tokens: y = x W^T (nt), dx = dy W (nn) and dW = dy^T x (tn).
/// OMP_NUM_THREADS sets the threads of every library. The speed of a turn comes from about 30 ms of calls. The table
/// has medians in GFLOP/s. `over best` is the median over turns of our speed over the fastest other's. `spread` is our
/// highest speed over our lowest: where it is large, the row describes the machine. The last line says how much of the
/// CPUs other processes and the hypervisor took. Exits with 1 if results differ by more than rounding.
namespace bellwether::test {

#if !defined(BELLWETHER_WITH_ONEDNN)
template <class T>
void add_onednn(std::vector<ProductLibrary<T>>&) {}
#endif

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string mkl, models = "tiny,mini,small,base,large", types = "fp32,bf16";
  int turns = 7;
  Index rows = 2048;
};

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    std::string const name = arguments[i];
    if (i + 1 == count) throw std::runtime_error(name + ": a value is missing");
    std::string const value = arguments[i + 1];
    if (name == "--mkl")
      options.mkl = value;
    else if (name == "--models")
      options.models = value;
    else if (name == "--types")
      options.types = value;
    else if (name == "--turns")
      options.turns = std::stoi(value);
    else if (name == "--rows")
      options.rows = std::stoll(value);
    else
      throw std::runtime_error(name + ": unknown option");
  }
  return options;
}

bool lists(std::string const& list, std::string const& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

std::vector<ProductShape> shapes_of(Index hidden, Index rows) {
  std::vector<ProductShape> shapes;
  for (auto const& [to, from] :
       {std::pair{hidden, hidden}, {3 * hidden, hidden}, {4 * hidden, hidden}, {hidden, 4 * hidden}}) {
    shapes.push_back({Op::none, Op::transpose, rows, to, from});
    shapes.push_back({Op::none, Op::none, rows, from, to});
    shapes.push_back({Op::transpose, Op::none, to, from, rows});
  }
  return shapes;
}

template <class T>
void add_ours(std::vector<ProductLibrary<T>>& libraries) {
  libraries.push_back({"ours", [](ProductShape const& p, ProductData<T>& data) {
                         return std::function<void()>([&p, &data] {
                           Exec const exec;
                           gemm(exec, {p.op_a, p.op_b, p.m, p.n, p.k}, ConstMatrix{data.a.data(), p.lda()},
                                ConstMatrix{data.b.data(), p.ldb()}, Matrix{data.c.data(), p.n});
                           exec.fence("bellwether::test::products");
                         });
                       }});
}

CBLAS_TRANSPOSE blas(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }
int whole(Index extent) { return static_cast<int>(extent); }

using Sgemm = decltype(&cblas_sgemm);
using MklBf16 = void (*)(int, int, int, int, int, int, float, void const*, int, void const*, int, float, float*, int);

void add_sgemm(std::vector<ProductLibrary<float>>& libraries, std::string name, Sgemm multiply) {
  libraries.push_back({std::move(name), [=](ProductShape const& p, ProductData<float>& data) {
                         return std::function<void()>([&p, &data, multiply] {
                           multiply(CblasRowMajor, blas(p.op_a), blas(p.op_b), whole(p.m), whole(p.n), whole(p.k), 1,
                                    data.a.data(), whole(p.lda()), data.b.data(), whole(p.ldb()), 0, data.c.data(),
                                    whole(p.n));
                         });
                       }});
}

template <class Function>
Function symbol_of(std::string const& library, char const* name) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* const symbol = dlsym(handle, name);
  if (symbol == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(symbol);
}

void add_others(std::vector<ProductLibrary<float>>& libraries, Options const& options) {
  add_sgemm(libraries, "OpenBLAS", cblas_sgemm);
  add_onednn(libraries);
  if (!options.mkl.empty()) add_sgemm(libraries, "MKL", symbol_of<Sgemm>(options.mkl, "cblas_sgemm"));
}
void add_others(std::vector<ProductLibrary<bf16>>& libraries, Options const& options) {
  add_onednn(libraries);
  if (options.mkl.empty()) return;
  auto const multiply = symbol_of<MklBf16>(options.mkl, "cblas_gemm_bf16bf16f32");
  libraries.push_back({"MKL", [=](ProductShape const& p, ProductData<bf16>& data) {
                         data.c_float.resize(data.c.size());
                         return std::function<void()>([&p, &data, multiply] {
                           multiply(CblasRowMajor, blas(p.op_a), blas(p.op_b), whole(p.m), whole(p.n), whole(p.k), 1,
                                    data.a.data(), whole(p.lda()), data.b.data(), whole(p.ldb()), 0,
                                    data.c_float.data(), whole(p.n));
                         });
                       }});
}

double seconds_of(std::function<void()> const& call, int calls) {
  auto const begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Returns the largest difference of two results over the largest element.
template <class T>
double difference(std::vector<T> const& ours, ProductData<T> const& theirs) {
  double largest = 0, differs = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    double const other = theirs.c_float.empty() ? double(float(theirs.c[i])) : double(theirs.c_float[i]);
    largest = std::max(largest, std::abs(double(float(ours[i]))));
    differs = std::max(differs, std::abs(double(float(ours[i])) - other));
  }
  return differs / largest;
}

/// \returns whether all results agree.
template <class T>
bool compare(std::vector<ProductLibrary<T>> const& libraries, char const* type, ProductShape const& p, int turns) {
  ProductData<T> data;
  std::mt19937 random(17);
  std::normal_distribution<float> normal;
  auto const filled = [&](Index count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& value : values) value = T(normal(random));
    return values;
  };
  data.a = filled(p.m * p.k);
  data.b = filled(p.k * p.n);
  data.c.resize(static_cast<std::size_t>(p.m * p.n));
  std::vector<std::function<void()>> calls;
  std::vector<int> repeats;
  std::vector<T> ours;
  bool agree = true;
  for (auto const& library : libraries) {
    data.c_float.clear();
    calls.push_back(library.make(p, data));
    calls.back()();
    if (ours.empty())
      ours = data.c;
    else if (!(difference(ours, data) < (std::is_same_v<T, bf16> ? 1e-2 : 1e-5)))
      agree = false;
    repeats.push_back(std::max(1, static_cast<int>(0.03 / seconds_of(calls.back(), 3))));
  }
  std::vector<std::vector<double>> speeds(libraries.size());
  std::vector<double> ratios;
  for (int turn = 0; turn < turns; ++turn) {
    double best = 0;
    for (std::size_t l = 0; l < libraries.size(); ++l) {
      speeds[l].push_back(p.flops() / seconds_of(calls[l], repeats[l]) / 1e9);
      if (l > 0) best = std::max(best, speeds[l].back());
    }
    ratios.push_back(speeds[0].back() / best);
  }
  std::printf("| %s | %lld x %lld x %lld %s%s |", type, static_cast<long long>(p.m), static_cast<long long>(p.n),
              static_cast<long long>(p.k), p.op_a == Op::none ? "n" : "t", p.op_b == Op::none ? "n" : "t");
  for (auto const& of_library : speeds) std::printf(" %.0f |", median(of_library));
  std::printf(" %.2f | %.2f |%s\n", median(ratios), std::ranges::max(speeds[0]) / std::ranges::min(speeds[0]),
              agree ? "" : " WRONG");
  std::fflush(stdout);
  return agree;
}

template <class T>
bool compare_all(char const* type, Options const& options) {
  std::vector<ProductLibrary<T>> libraries;
  add_ours(libraries);
  add_others(libraries, options);
  if (libraries.size() == 1) {
    std::printf("%s: no other library\n", type);
    return true;
  }
  std::printf("\n| type | product |");
  for (auto const& library : libraries) std::printf(" %s |", library.name.c_str());
  std::printf(" over best | spread |\n|---|---|");
  for (std::size_t l = 0; l < libraries.size() + 2; ++l) std::printf("---|");
  std::printf("\n");
  bool agree = true;
  for (auto const& [name, hidden] :
       {std::pair{"tiny", 128}, {"mini", 256}, {"small", 512}, {"base", 768}, {"large", 1024}})
    if (lists(options.models, name))
      for (auto const& shape : shapes_of(hidden, options.rows))
        agree = compare(libraries, type, shape, options.turns) && agree;
  return agree;
}

/// Seconds of CPU time since the start of the machine, in units of 1/100 s: all of it, busy, and stolen.
struct CpuTimes {
  double busy = 0, stolen = 0, own = 0;

  static CpuTimes now() {
    std::ifstream file("/proc/stat");
    std::string word;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft = 0, stolen = 0;
    file >> word >> user >> nice >> system >> idle >> waiting >> irq >> soft >> stolen;
    double const own = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return {(user + nice + system + irq + soft) / 100, stolen / 100, own};
  }
};

}  // namespace
}  // namespace bellwether::test

int main(int count, char** arguments) try {
  using namespace bellwether;
  using namespace bellwether::test;
  auto const options = options_of(count, arguments);
  Kokkos::ScopeGuard const kokkos;
  auto const begin = CpuTimes::now();
  auto const started = Clock::now();
  bool agree = true;
  if (lists(options.types, "fp32")) agree = compare_all<float>("fp32", options) && agree;
  if (lists(options.types, "bf16")) agree = compare_all<bf16>("bf16", options) && agree;
  auto const end = CpuTimes::now();
  double const seconds = std::chrono::duration<double>(Clock::now() - started).count();
  std::printf("\n%.0f s; other processes used %.2f CPUs, the hypervisor took %.2f CPUs\n", seconds,
              std::max(0.0, end.busy - begin.busy - (end.own - begin.own)) / seconds,
              (end.stolen - begin.stolen) / seconds);
  return agree ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "products_beside_libraries: %s\n", error.what());
  return 2;
}
