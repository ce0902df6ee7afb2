// SPDX-License-Identifier: MIT
// poslab_bench: the kernels natively, with Google Benchmark, beside the limit of this processor's 128-bit registers
// measured first. Every kernel prints its GFLOP/s, or GB/s, and its percentage of that limit.
//   build/bench/poslab_bench --benchmark_repetitions=7 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "base/status_message.h"
#include "limit.h"
#include "training.h"
#include "workloads.h"

namespace {

using namespace poslab_bench;  // NOLINT: this file registers that namespace's workloads
using poslab::Status;

constexpr int64_t kLimitRounds = 4'000'000;
constexpr int kLimitTries = 7;
constexpr double kMegabyte = 1 << 20;

double SecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Operations a second of the best of some tries: whatever disturbs a try makes it slower.
double BestRate(double amount, const std::function<void()>& body) {
  double rate = 0;
  for (int n = 0; n < kLimitTries; ++n) rate = std::max(rate, amount / SecondsOf(body));
  return rate;
}

double MeasureFlops() {
  double best = 0;
  for (const int chains : kChains) {
    best = std::max(best, BestRate(MultiplyAddFlops(chains, kLimitRounds),
                                   [&] { benchmark::DoNotOptimize(MultiplyAdds(chains, kLimitRounds)); }));
  }
  return best;
}

struct Bandwidth {
  double read, copy, fill;  // bytes a second; copying counts what is read and what is written
};

// Of as many bytes as the kernel that is compared with it touches.
Bandwidth MeasureBandwidth(double bytes) {
  Buffer<float> from, to;
  const int64_t count = static_cast<int64_t>(bytes) / 64 * 16;
  if (!from.Resize("from", count).ok() || !to.Resize("to", count).ok()) return {};
  return {BestRate(bytes, [&] { benchmark::DoNotOptimize(ReadAll(from.data(), count)); }),
          BestRate(2 * bytes, [&] { CopyAll(from.data(), to.data(), count), benchmark::ClobberMemory(); }),
          BestRate(bytes, [&] { FillAll(1, from.data(), count), benchmark::ClobberMemory(); })};
}

double limit_flops = 0;  // set before the first benchmark runs

// Fails the benchmark, with the reason, when the workload cannot be made or run.
bool Passed(benchmark::State& state, const Status& status) {
  if (!status.ok()) state.SkipWithError(poslab::Message(status).c_str());
  return status.ok();
}

void SetRate(benchmark::State& state, const char* unit, double amount, double limit) {
  using benchmark::Counter;
  constexpr auto kRate = Counter::kIsIterationInvariantRate;
  state.counters[unit] = Counter(amount / 1e9, kRate);
  if (limit > 0) state.counters["percent_of_limit"] = Counter(100 * amount / limit, kRate);
}

void BenchAttention(benchmark::State& state, const std::string& type, AttentionShape shape, bool backward) {
  AttentionWorkload workload;
  if (!Passed(state, workload.Make(type, shape)) || !Passed(state, workload.Forward())) return;
  if (backward && !Passed(state, workload.PrepareBackward())) return;
  for (auto _ : state) {
    if (!Passed(state, backward ? workload.Backward() : workload.Forward())) return;
  }
  SetRate(state, "GFLOP/s", backward ? workload.backward_flops() : workload.forward_flops(), limit_flops);
}

void AddAttention(const std::string& type, const AttentionShape& shape, const std::string& what) {
  for (const bool backward : {false, true}) {
    benchmark::RegisterBenchmark(("attention/" + type + "/" + what + "/" + (backward ? "backward" : "forward")).c_str(),
                                 [=](benchmark::State& state) { BenchAttention(state, type, shape, backward); })
        ->Unit(benchmark::kMillisecond);
  }
}

void BenchDecoding(benchmark::State& state) {
  const AttentionShape shape{.queries = 1, .keys = 4096, .causal = true};
  AttentionWorkload workload;
  if (!Passed(state, workload.Make("none", shape))) return;
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(shape.heads * shape.keys * shape.dim);
  const double limit = MeasureBandwidth(bytes).read;
  for (auto _ : state) {
    if (!Passed(state, workload.Forward())) return;
  }
  SetRate(state, "GB/s", bytes, limit);
}

void BenchRotation(benchmark::State& state) {
  RotationWorkload workload;
  if (!Passed(state, workload.Make(8, 2048, 64))) return;
  const double limit = MeasureBandwidth(workload.bytes() / 2).copy;
  for (auto _ : state) workload.Run();
  SetRate(state, "GB/s", workload.bytes(), limit);
}

template <typename Workload>
void BenchFilling(benchmark::State& state, int64_t a, int64_t b) {
  Workload workload;
  if (!Passed(state, workload.Make(a, b))) return;
  const double limit = MeasureBandwidth(workload.bytes()).fill;
  for (auto _ : state) {
    if (!Passed(state, workload.Run())) return;
  }
  SetRate(state, "GB/s", workload.bytes(), limit);
}

void BenchMatMul(benchmark::State& state, int64_t m, int64_t n, int64_t k) {
  MatMulWorkload workload;
  if (!Passed(state, workload.Make(m, n, k))) return;
  for (auto _ : state) workload.Run();
  SetRate(state, "GFLOP/s", workload.flops(), limit_flops);
}

void BenchTraining(benchmark::State& state, const std::string& type, bool evaluation) {
  TrainingWorkload workload;
  if (!Passed(state, workload.Make(type, {}))) return;
  for (auto _ : state) {
    if (!Passed(state, evaluation ? workload.Score() : workload.Step())) return;
  }
  state.counters["tokens/s"] = benchmark::Counter(workload.tokens(), benchmark::Counter::kIsIterationInvariantRate);
}

void RegisterAll() {
  const auto register_one = [](const std::string& name, auto body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond);
  };
  register_one("limit/multiply-add", [](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(MultiplyAdds(12, kLimitRounds / 10));
    SetRate(state, "GFLOP/s", MultiplyAddFlops(12, kLimitRounds / 10), limit_flops);
  });
  AddAttention("none", {.queries = 1024, .keys = 1024}, "full-1024");
  for (const std::string& type : SchemeTypes())
    AddAttention(type, {.queries = 1024, .keys = 1024, .causal = true}, "causal-1024");
  register_one("matmul/1024x256x64", [](benchmark::State& state) { BenchMatMul(state, 1024, 256, 64); });
  register_one("matmul/512x512x512", [](benchmark::State& state) { BenchMatMul(state, 512, 512, 512); });
  register_one("decode/none/4096", BenchDecoding);
  register_one("position/rope-2048x8x64", BenchRotation);
  register_one("position/sinusoidal-8192x512",
               [](benchmark::State& state) { BenchFilling<TableWorkload>(state, 8192, 512); });
  register_one("position/t5-8x1024x1024", [](benchmark::State& state) { BenchFilling<BiasWorkload>(state, 8, 1024); });
  for (const std::string& type : SchemeTypes()) {
    for (const bool evaluation : {false, true}) {
      register_one((evaluation ? "evaluation/" : "training/") + type,
                   [=](benchmark::State& state) { BenchTraining(state, type, evaluation); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  limit_flops = MeasureFlops();
  const Bandwidth far = MeasureBandwidth(64 * kMegabyte);
  const auto giga = [](double rate) { return std::to_string(rate / 1e9); };
  benchmark::AddCustomContext("limit_gflops", giga(limit_flops));
  benchmark::AddCustomContext("limit_read_gbytes", giga(far.read));
  benchmark::AddCustomContext("limit_copy_gbytes", giga(far.copy));
  benchmark::AddCustomContext("limit_fill_gbytes", giga(far.fill));
  RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
