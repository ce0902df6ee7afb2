// SPDX-License-Identifier: MIT
// The workloads and the limits as a WebAssembly module, linked with the same core and the same options as the package's.
// A table: nothing is computed here. Calls that can fail return what was wrong as text, "" otherwise.
#include <emscripten/bind.h>

#include "base/status_message.h"
#include "limit.h"
#include "training.h"
#include "workloads.h"

namespace {

using namespace poslab_bench;  // NOLINT: this file is a table of that namespace
using emscripten::class_;
using emscripten::function;
using emscripten::val;

int64_t Whole(double number) { return static_cast<int64_t>(number); }
std::string TextOf(const Status& status) { return status.ok() ? "" : poslab::Message(status); }
val Numbers(std::span<const float> numbers) {
  return val(emscripten::typed_memory_view(numbers.size(), numbers.data()));
}

std::string MakeAttention(AttentionWorkload& workload, const std::string& type, const val& shape) {
  const auto whole = [&](const char* name) { return Whole(shape[name].as<double>()); };
  return TextOf(workload.Make(type, {.heads = whole("heads"),
                                     .key_value_heads = whole("keyValueHeads"),
                                     .queries = whole("queries"),
                                     .keys = whole("keys"),
                                     .dim = whole("dim"),
                                     .causal = shape["causal"].as<bool>(),
                                     .window = whole("window")}));
}

// A block of memory for the plain loops.
class Memory {
 public:
  explicit Memory(double bytes) { (void)from_.Resize("from", Whole(bytes) / 64 * 16); }
  double bytes() const { return sizeof(float) * static_cast<double>(from_.size()); }
  float Read() const { return ReadAll(from_.data(), from_.size()); }
  void Copy() {
    if (to_.empty()) (void)to_.Resize("to", from_.size());
    CopyAll(from_.data(), to_.data(), from_.size());
  }
  void Fill() { FillAll(1, from_.data(), from_.size()); }

 private:
  Buffer<float> from_, to_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(workloads) {
  function("schemeTypes", +[] { return val::array(SchemeTypes()); });
  class_<AttentionWorkload>("Attention")
      .constructor<>()
      .function("make", &MakeAttention)
      .function(
          "forward", +[](AttentionWorkload& workload) { return TextOf(workload.Forward()); })
      .function(
          "prepareBackward", +[](AttentionWorkload& workload) { return TextOf(workload.PrepareBackward()); })
      .function(
          "backward", +[](AttentionWorkload& workload) { return TextOf(workload.Backward()); })
      .function(
          "pull", +[](AttentionWorkload& workload) { return TextOf(workload.Pull()); })
      .function(
          "bind", +[](AttentionWorkload& workload) { return TextOf(workload.Bind()); })
      .function(
          "query", +[](AttentionWorkload& workload) { return Numbers(workload.query()); })
      .function(
          "key", +[](AttentionWorkload& workload) { return Numbers(workload.key()); })
      .function(
          "value", +[](AttentionWorkload& workload) { return Numbers(workload.value()); })
      .function(
          "output", +[](AttentionWorkload& workload) { return Numbers(workload.output()); })
      .function(
          "biasByDistance",
          +[](const AttentionWorkload& workload) {
            const std::vector<float> biases = workload.BiasByDistance();
            return Numbers(biases).call<val>("slice");
          })
      .function(
          "cosines", +[](const AttentionWorkload& workload) { return Numbers(workload.cosines()); })
      .function(
          "sines", +[](const AttentionWorkload& workload) { return Numbers(workload.sines()); })
      .function("forwardFlops", &AttentionWorkload::forward_flops)
      .function("backwardFlops", &AttentionWorkload::backward_flops)
      .function("forwardBytes", &AttentionWorkload::forward_bytes)
      .function("backwardBytes", &AttentionWorkload::backward_bytes);
  class_<RotationWorkload>("Rotation")
      .constructor<>()
      .function(
          "make", +[](RotationWorkload& workload, double heads, double length,
                      double dim) { return TextOf(workload.Make(Whole(heads), Whole(length), Whole(dim))); })
      .function("run", &RotationWorkload::Run)
      .function(
          "query", +[](RotationWorkload& workload) { return Numbers(workload.query()); })
      .function("bytes", &RotationWorkload::bytes);
  class_<TableWorkload>("Table")
      .constructor<>()
      .function(
          "make", +[](TableWorkload& workload, double length,
                      double dim) { return TextOf(workload.Make(Whole(length), Whole(dim))); })
      .function(
          "run", +[](TableWorkload& workload) { return TextOf(workload.Run()); })
      .function(
          "result", +[](TableWorkload& workload) { return Numbers(workload.result()); })
      .function("bytes", &TableWorkload::bytes);
  class_<BiasWorkload>("Bias")
      .constructor<>()
      .function(
          "make", +[](BiasWorkload& workload, double heads,
                      double length) { return TextOf(workload.Make(Whole(heads), Whole(length))); })
      .function(
          "run", +[](BiasWorkload& workload) { return TextOf(workload.Run()); })
      .function(
          "table", +[](BiasWorkload& workload) { return Numbers(workload.table()); })
      .function(
          "result", +[](BiasWorkload& workload) { return Numbers(workload.result()); })
      .function("bytes", &BiasWorkload::bytes);
  class_<MatMulWorkload>("MatMul")
      .constructor<>()
      .function(
          "make", +[](MatMulWorkload& workload, double m, double n,
                      double k) { return TextOf(workload.Make(Whole(m), Whole(n), Whole(k))); })
      .function("run", &MatMulWorkload::Run)
      .function("flops", &MatMulWorkload::flops);
  class_<TrainingWorkload>("Training")
      .constructor<>()
      .function(
          "make",
          +[](TrainingWorkload& workload, const std::string& type, double batch, double length, double layers) {
            return TextOf(
                workload.Make(type, {.batch = Whole(batch), .length = Whole(length), .layers = Whole(layers)}));
          })
      .function(
          "step", +[](TrainingWorkload& workload) { return TextOf(workload.Step()); })
      .function("score", +[](TrainingWorkload& workload) { return TextOf(workload.Score()); });
}

EMSCRIPTEN_BINDINGS(limits) {
  function("chainCounts", +[] { return val::array(std::begin(kChains), std::end(kChains)); });
  function(
      "multiplyAdds",
      +[](double chains, double rounds) { return MultiplyAdds(static_cast<int>(chains), Whole(rounds)); });
  class_<Memory>("Memory")
      .constructor<double>()
      .function("bytes", &Memory::bytes)
      .function("read", &Memory::Read)
      .function("copy", &Memory::Copy)
      .function("fill", &Memory::Fill);
}
