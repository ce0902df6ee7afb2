// SPDX-License-Identifier: MIT
// What a conformance case is made of, for people who write one from another program without having read this one.

export const caseHelp = `
A case is a safetensors file. Its metadata has one text called case, a JSON object that says what to compute:
  op         one of those below
  position   a scheme object, as in {"type":"rope","theta":500000}; its tensors are in the file as position.NAME
  name       shown in the result (default: the file's name)
  tolerance  {"absolute":1e-5,"relative":1e-5}: allowed is absolute + relative * |expected|
and what the operation needs; tensors of inputs are called input.NAME, results expected.NAME, and one of these is enough:

  op                   fields                           inputs                           expected
  table                length, dim, start               -                                table [length, dim]
  rotate               -                                x [H, L, D], positions [L]       x
  frequencies          headDim, length (the running)    -                                inverseFrequencies, attentionFactor [1]
  slopes               heads                            -                                slopes [H]
  buckets              -                                distances [n], key - query       buckets [n]
  bias                 heads, queryLength, keyLength    -                                bias [H, Lq, Lk]
  attention            mask {causal, alignment,         query [H, Lq, D], key, value     output, weights
                       window, documents}, scale,       (keyMask, queryPositions,
                       distances                        keyPositions, gates, sinks)
  attention-gradients  as attention                     and outputGradient               gradient.query, .key, .value,
                                                                                         .gates, .sinks,
                                                                                         gradient.position.NAME
  config               config (a config.json),          -                                as frequencies
                       layerType, length
  training             model, training (as in an        batches [steps, batch, L + 1],   losses, gradientNorms, testLosses,
                       experiment)                      test [sequences, L + 1],         gradient.NAME (of the first step)
                                                        weights.NAME (without input.)
  reject               call (one of these), reason      as of that call                  nothing: the call must fail

From Python, with numpy (or safetensors.torch and tensors):
  from safetensors.numpy import save_file
  case = {"op": "rotate", "position": {"type": "rope"}}
  save_file({"input.x": x, "input.positions": positions, "expected.x": y}, "mine.safetensors", metadata={"case": json.dumps(case)})
poslab table, bias, rotate and attention write cases too: --out case.safetensors.
`;
