// SPDX-License-Identifier: MIT
// Reads a call's tensors, binds the scheme to its positions, runs the engine and hands the results out.
#include "attention.h"

#include "attention/attention.h"
#include "border.h"

namespace poslab::border {
namespace {

// Everything that a call's views point into, and the views.
struct Call {
  Tensor query, key, value, gates, sinks;
  Buffer<uint8_t> key_mask;
  Buffer<int64_t> query_ids, key_ids, documents;
  GivenScheme given;
  BindArguments bind;
  Hooks hooks;
  AttentionArguments arguments;
  std::optional<DistancedAttention> distanced;
};

int64_t Size(const Tensor& tensor) { return static_cast<int64_t>(tensor.data.size()); }

HeadsView<const float> View(const Tensor& tensor) {
  return HeadsView<const float>::Packed(tensor.data.data(), tensor.shape[0], tensor.shape[1], tensor.shape[2]);
}

Status ReadInto(Value object, const char* argument, Tensor* tensor) {
  Result<Tensor> read = TensorOf(object[argument], argument);
  if (!read.ok()) return read.status();
  *tensor = std::move(*read);
  return Status::Ok();
}

// A tensor [H, length], or [H] (length 0), that need not be there.
Status ReadByHead(Value options, const char* argument, int64_t heads, int64_t length, Tensor* tensor,
                  const float** data) {
  if (!IsGiven(options[argument])) return Status::Ok();
  POSLAB_RETURN_IF_ERROR(ReadInto(options, argument, tensor));
  const std::vector<int64_t> wanted = length ? std::vector<int64_t>{heads, length} : std::vector<int64_t>{heads};
  *data = tensor->data.data();
  if (tensor->shape == wanted) return Status::Ok();
  Status status = Status::Number(Code::kShape, argument, static_cast<double>(tensor->data.size()),
                                 length ? "a tensor [{0}, {1}], a number a head and key," : "{0} numbers, one a head,",
                                 static_cast<double>(heads));
  status->limits[1] = static_cast<double>(length);
  return status;
}

Status ReadMask(Value options, Call* call) {
  Mask& mask = call->arguments.mask;
  mask.causal = TruthOf(options, "causal");
  if (TruthOf(options, "topLeft")) mask.alignment = Mask::Alignment::kTopLeft;
  mask.window = MaybeCount(options, "window");
  const int64_t keys = call->arguments.key.length;
  if (IsGiven(options["documents"])) {
    Result<Buffer<int64_t>> documents = CopyIds(options["documents"], "mask.documents");
    if (!documents.ok()) return documents.status();
    if (documents->size() != keys) {
      return Status::Number(Code::kShape, "mask.documents", static_cast<double>(documents->size()), "a list of {0} ids",
                            static_cast<double>(keys));
    }
    call->documents = std::move(*documents);
    mask.documents = call->documents.data();
  }
  const Value key_mask = options["keyMask"];
  if (!IsGiven(key_mask)) return Status::Ok();
  Result<Buffer<uint8_t>> copied = CopyBytes(key_mask, "keyMask");
  if (!copied.ok()) return copied.status();
  call->key_mask = std::move(*copied);
  if (call->key_mask.size() != keys) {
    return Status::Number(Code::kShape, "keyMask", static_cast<double>(call->key_mask.size()),
                          "a list of {0}, one for each key,", static_cast<double>(keys));
  }
  mask.key_mask = call->key_mask.data();
  return Status::Ok();
}

Status ReadPositions(Value options, Call* call) {
  const int64_t queries = call->arguments.query.length, keys = call->arguments.key.length;
  const Positions defaults = DefaultQueryPositions(queries, keys, call->arguments.mask.alignment);
  Result<Positions> query =
      PositionsOf(options["queryPositions"], defaults.start, queries, "queryPositions", &call->query_ids);
  if (!query.ok()) return query.status();
  Result<Positions> key = PositionsOf(options["keyPositions"], 0, keys, "keyPositions", &call->key_ids);
  if (!key.ok()) return key.status();
  call->arguments.query_positions = *query;
  call->arguments.key_positions = *key;
  return Status::Ok();
}

// `call` must not move afterwards: its parts point at each other.
Status ReadCall(Value scheme, Value options, Call* call) {
  POSLAB_RETURN_IF_ERROR(ReadInto(options, "query", &call->query));
  POSLAB_RETURN_IF_ERROR(ReadInto(options, "key", &call->key));
  POSLAB_RETURN_IF_ERROR(ReadInto(options, "value", &call->value));
  AttentionArguments& arguments = call->arguments;
  arguments.query = View(call->query);
  arguments.key = View(call->key);
  arguments.value = View(call->value);
  POSLAB_RETURN_IF_ERROR(ReadMask(options, call));
  POSLAB_RETURN_IF_ERROR(ReadPositions(options, call));
  if (IsGiven(options["scale"])) arguments.scale = static_cast<float>(NumberOf(options, "scale"));
  const int64_t heads = arguments.query.heads;
  if (arguments.key.length > 0)
    POSLAB_RETURN_IF_ERROR(ReadByHead(options, "gates", heads, arguments.key.length, &call->gates, &arguments.gates));
  POSLAB_RETURN_IF_ERROR(ReadByHead(options, "sinks", heads, 0, &call->sinks, &arguments.sinks));
  POSLAB_RETURN_IF_ERROR(CheckAttention(arguments));
  Dimensions dimensions;
  dimensions.heads = arguments.query.heads;
  dimensions.head_dim = arguments.query.dim;
  dimensions.value_dim = arguments.value.dim;
  Result<GivenScheme> given = SchemeOf(scheme, dimensions);
  if (!given.ok()) return given.status();
  call->given = std::move(*given);
  const Scheme& made = *call->given.scheme;
  if (made.embeds() && !made.acts_on_attention()) {
    return Status::Text(Code::kContradiction, "position", made.type(),
                        "a scheme that acts on attention (add the table of this one to the embeddings beforehand)");
  }
  POSLAB_RETURN_IF_ERROR(made.CheckParameters(dimensions, call->given.parameters));
  call->bind = {dimensions, arguments.query_positions, arguments.key_positions, 0, call->given.parameters};
  if (const Value distances = options["distances"]; IsGiven(distances))
    return call->distanced.emplace().Bind(made, call->bind, arguments, DistancesOf(distances));
  POSLAB_RETURN_IF_ERROR(made.Bind(call->bind, &call->hooks));
  arguments.hooks = &call->hooks;
  return Status::Ok();
}

Status Forward(const Call& call, AttentionResults* results, AttentionWorkspace* workspace) {
  if (call.distanced) return call.distanced->Forward(results, workspace);
  return Attention(call.arguments, results, workspace);
}

// Room for what was asked for, named by what it is: "weights" says how much an L x L matrix would take.
Status MakeRoom(bool wanted, const char* name, std::initializer_list<int64_t> shape, Buffer<float>* buffer) {
  return wanted ? buffer->Resize(name, CheckedProduct(shape)) : Status::Ok();
}

void AnswerField(const char* name, Buffer<float> numbers, std::initializer_list<int64_t> shape) {
  TheAnswer().Field(name);
  AnswerTensor(std::move(numbers), shape);
}

}  // namespace

Distances DistancesOf(Value object) {
  const bool grouped = TextOf(object, "policy") == "grouped";
  return {grouped ? Distances::Kind::kGrouped : Distances::Kind::kClamped, CountOf(object, "window"),
          CountOf(object, "group")};
}

void AttentionCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next(), options = in.Next();
  Call call;
  POSLAB_FAIL_IF_ERROR(ReadCall(scheme, options, &call));
  const int64_t heads = call.arguments.query.heads, queries = call.arguments.query.length;
  const int64_t keys = call.arguments.key.length, width = call.arguments.value.dim;
  Buffer<float> output, weights, scores, log_sum_exp;
  POSLAB_FAIL_IF_ERROR(MakeRoom(true, "output", {heads, queries, width}, &output));
  POSLAB_FAIL_IF_ERROR(MakeRoom(TruthOf(options, "weights"), "weights", {heads, queries, keys}, &weights));
  POSLAB_FAIL_IF_ERROR(MakeRoom(TruthOf(options, "scores"), "scores", {heads, queries, keys}, &scores));
  POSLAB_FAIL_IF_ERROR(MakeRoom(TruthOf(options, "logSumExp"), "logSumExp", {heads, queries}, &log_sum_exp));
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), heads, queries, width);
  results.weights = weights.data();
  results.scores = scores.data();
  results.log_sum_exp = log_sum_exp.data();
  AttentionWorkspace workspace;
  POSLAB_FAIL_IF_ERROR(Forward(call, &results, &workspace));
  TheAnswer().Object();
  AnswerField("output", std::move(output), {heads, queries, width});
  if (TruthOf(options, "weights")) AnswerField("weights", std::move(weights), {heads, queries, keys});
  if (TruthOf(options, "scores")) AnswerField("scores", std::move(scores), {heads, queries, keys});
  if (TruthOf(options, "logSumExp")) AnswerField("logSumExp", std::move(log_sum_exp), {heads, queries});
  TheAnswer().End();
}

void AttentionGradientsCall(double message) {
  Arguments in(message);
  const Value scheme = in.Next(), options = in.Next();
  Call call;
  POSLAB_FAIL_IF_ERROR(ReadCall(scheme, options, &call));
  const AttentionArguments& arguments = call.arguments;
  const int64_t heads = arguments.query.heads, queries = arguments.query.length, width = arguments.value.dim;
  Tensor output_gradient;
  POSLAB_FAIL_IF_ERROR(ReadInto(options, "outputGradient", &output_gradient));
  if (output_gradient.shape != std::vector<int64_t>{heads, queries, width}) {
    Status status = Status::Text(Code::kShape, "outputGradient", "another shape", "the output's shape [{0}, {1}, {2}]");
    status->limits[0] = static_cast<double>(heads);
    status->limits[1] = static_cast<double>(queries);
    status->limits[2] = static_cast<double>(width);
    return Failed(status);
  }
  Buffer<float> output, log_sum_exp, query, key, value;
  POSLAB_FAIL_IF_ERROR(MakeRoom(true, "output", {heads, queries, width}, &output));
  POSLAB_FAIL_IF_ERROR(MakeRoom(true, "logSumExp", {heads, queries}, &log_sum_exp));
  POSLAB_FAIL_IF_ERROR(query.Resize("query", Size(call.query)));
  POSLAB_FAIL_IF_ERROR(key.Resize("key", Size(call.key)));
  POSLAB_FAIL_IF_ERROR(value.Resize("value", Size(call.value)));
  AttentionResults results;
  results.output = HeadsView<float>::Packed(output.data(), heads, queries, width);
  results.log_sum_exp = log_sum_exp.data();
  AttentionWorkspace workspace;
  POSLAB_FAIL_IF_ERROR(Forward(call, &results, &workspace));

  AttentionGradientArguments forward;
  forward.output = HeadsView<const float>::Packed(output.data(), heads, queries, width);
  forward.log_sum_exp = log_sum_exp.data();
  forward.output_gradient = View(output_gradient);
  std::vector<Buffer<float>> position;
  std::vector<TensorView<float>> position_views;
  for (const TensorView<const float>& parameter : call.given.parameters) {
    Result<Buffer<float>> room = Buffer<float>::Make(parameter.name, parameter.size());
    if (!room.ok()) return Failed(room.status());
    position.push_back(std::move(*room));
    position_views.push_back({parameter.name, position.back().data(), parameter.shape});
  }
  HookGradients hook_gradients;
  hook_gradients.parameters = position_views;
  AttentionGradients gradients;
  gradients.query = HeadsView<float>::Packed(query.data(), heads, queries, arguments.query.dim);
  gradients.key = HeadsView<float>::Packed(key.data(), arguments.key.heads, arguments.key.length, arguments.key.dim);
  gradients.value = HeadsView<float>::Packed(value.data(), arguments.value.heads, arguments.value.length, width);
  gradients.hooks = &hook_gradients;
  Buffer<float> gates, sinks;
  POSLAB_FAIL_IF_ERROR(gates.Resize("gates", Size(call.gates)));
  POSLAB_FAIL_IF_ERROR(sinks.Resize("sinks", Size(call.sinks)));
  if (arguments.gates) gradients.gates = gates.data();
  if (arguments.sinks) gradients.sinks = sinks.data();
  POSLAB_FAIL_IF_ERROR(call.distanced ? call.distanced->Backward(forward, &gradients, &workspace)
                                      : AttentionBackward(arguments, forward, &gradients, &workspace));

  const Scheme& made = *call.given.scheme;
  POSLAB_FAIL_IF_ERROR(call.distanced ? call.distanced->Pull(made, position_views)
                                      : made.Pull(call.bind, call.hooks, hook_gradients, position_views));

  TheAnswer().Object();
  AnswerField("query", std::move(query), {heads, queries, arguments.query.dim});
  AnswerField("key", std::move(key), {arguments.key.heads, arguments.key.length, arguments.key.dim});
  AnswerField("value", std::move(value), {arguments.value.heads, arguments.value.length, width});
  TheAnswer().Field("position").List();
  for (size_t n = 0; n < position.size(); ++n)
    AnswerNamedTensor(position_views[n].name, std::move(position[n]), position_views[n].shape);
  TheAnswer().End();
  if (arguments.gates) AnswerField("gates", std::move(gates), {heads, arguments.key.length});
  if (arguments.sinks) AnswerField("sinks", std::move(sinks), {heads});
  TheAnswer().End();
}

}  // namespace poslab::border
