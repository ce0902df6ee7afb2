// SPDX-License-Identifier: MIT
// The slice of a bucket table: runs of distances that share a bucket, forward and backward.
#include "position/t5.h"

#include <algorithm>

#include "position/positions.h"
#include "position/t5_buckets.h"

namespace poslab {
namespace {

constexpr double kBuckets = 32, kMaxDistance = 128;  // the defaults of the authors' code
constexpr double kStartDeviation = 0.02;

class T5Slice final : public Slice {
 public:
  T5Slice(std::shared_ptr<const T5Buckets> buckets, const float* table, int64_t heads, Buffer<double> gradients)
      : buckets_(std::move(buckets)), table_(table), heads_(heads), gradients_(std::move(gradients)) {}

  void Evaluate(int64_t head, int64_t first, int64_t count, float* bias) const override {
    ForEachRun(first, count, [&](int64_t begin, int64_t end, int64_t bucket) {
      std::fill(bias + begin, bias + end, table_[bucket * heads_ + head]);
    });
  }

  void Accumulate(int64_t head, int64_t first, int64_t count, const double* gradient) override {
    ForEachRun(first, count, [&](int64_t begin, int64_t end, int64_t bucket) {
      double sum = 0;
      for (int64_t n = begin; n < end; ++n) sum += gradient[n];
      gradients_[bucket * heads_ + head] += sum;
    });
  }

  int64_t lowest() const override { return -buckets_->thresholds().back(); }
  int64_t highest() const override { return buckets_->bidirectional() ? buckets_->thresholds().back() : 0; }
  bool learns() const override { return true; }
  const Buffer<double>& gradients() const { return gradients_; }

 private:
  // Calls run(begin, end, bucket) for each stretch of first .. first + count - 1 with one bucket.
  template <typename Run>
  void ForEachRun(int64_t first, int64_t count, Run run) const {
    for (int64_t n = 0; n < count;) {
      // As unsigned: the run may end at the largest int64.
      const uint64_t left = static_cast<uint64_t>(buckets_->LastOfRun(first + n)) - static_cast<uint64_t>(first + n);
      const int64_t end = left >= static_cast<uint64_t>(count - n) ? count : n + static_cast<int64_t>(left) + 1;
      run(n, end, buckets_->Bucket(first + n));
      n = end;
    }
  }

  std::shared_ptr<const T5Buckets> buckets_;
  const float* table_;  // [buckets, heads]
  int64_t heads_;
  Buffer<double> gradients_;  // like the table
};

class T5 final : public Scheme {
 public:
  explicit T5(T5Buckets buckets) : buckets_(std::make_shared<T5Buckets>(std::move(buckets))) {}

  std::string_view type() const override { return "t5"; }
  bool acts_on_attention() const override { return true; }

  Result<std::vector<ParameterSpec>> Parameters(const Dimensions& dimensions) const override {
    if (dimensions.heads <= 0) return Status::Text(Code::kMissing, "heads", "", "how many heads there are");
    std::vector<ParameterSpec> specs(1);
    specs[0].name = "table";
    specs[0].shape = {buckets_->buckets(), dimensions.heads};
    specs[0].start = {Start::Kind::kNormal, kStartDeviation, 0};
    specs[0].shared_by_layers = true;
    return specs;
  }

  Status Bind(const BindArguments& arguments, Hooks* hooks) const override {
    const int64_t heads = arguments.dimensions.heads;
    POSLAB_RETURN_IF_ERROR(CheckBothPositions(arguments));
    const Result<const float*> table = Numbers(arguments.parameters, "table", {buckets_->buckets(), heads});
    if (!table.ok()) return table.status();
    Result<Buffer<double>> gradients = Buffer<double>::Make("heads", CheckedProduct({buckets_->buckets(), heads}));
    if (!gradients.ok()) return gradients.status();
    hooks->slice = std::make_unique<T5Slice>(buckets_, *table, heads, std::move(*gradients));
    return Status::Ok();
  }

  Status Pull(const BindArguments&, const Hooks& hooks, const HookGradients&,
              ParameterGradients gradients) const override {
    const Buffer<double>& from = static_cast<const T5Slice&>(*hooks.slice).gradients();
    const TensorView<float>* to = Find(gradients, "table");
    if (!to || !to->data) return Status::Ok();
    for (int64_t n = 0; n < from.size(); ++n) to->data[n] += static_cast<float>(from[n]);
    return Status::Ok();
  }

  Status Buckets(const int64_t* distances, int64_t count, int64_t* buckets) const override {
    for (int64_t n = 0; n < count; ++n) buckets[n] = buckets_->Bucket(distances[n]);
    return Status::Ok();
  }

 private:
  std::shared_ptr<const T5Buckets> buckets_;
};

}  // namespace

Result<std::unique_ptr<Scheme>> MakeT5(const Description& description) {
  static constexpr FieldRule kRules[] = {
      {.name = "buckets", .kind = Field::Kind::kNumber, .minimum = 2, .maximum = 4096, .integer = true},
      {.name = "maxDistance", .kind = Field::Kind::kNumber, .minimum = 1, .maximum = 2147483647, .integer = true},
      {.name = "bidirectional", .kind = Field::Kind::kBoolean},
  };
  POSLAB_RETURN_IF_ERROR(CheckFields(description, kRules));
  Result<T5Buckets> buckets = T5Buckets::Make(static_cast<int64_t>(NumberOr(description, "buckets", kBuckets)),
                                              static_cast<int64_t>(NumberOr(description, "maxDistance", kMaxDistance)),
                                              BooleanOr(description, "bidirectional", false));
  if (!buckets.ok()) return buckets.status();
  return std::unique_ptr<Scheme>(std::make_unique<T5>(std::move(*buckets)));
}

}  // namespace poslab
