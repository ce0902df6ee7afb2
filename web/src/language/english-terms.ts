// SPDX-License-Identifier: MIT
// The words for the subject itself, in English: encodings, their parameters, tasks, and the glossary.

export const schemes = {
  none: { name: "No encoding", idea: "The causal mask alone." },
  sinusoidal: { name: "Sinusoidal", idea: "Fixed sine and cosine waves are added to each token." },
  learned: { name: "Learned", idea: "One trained vector a position is added; there is none past the last." },
  shaw: { name: "Shaw", idea: "Trained vectors for the clipped distance, on keys and values." },
  "transformer-xl": {
    name: "Transformer-XL",
    idea: "Scores from content and distance, with a sinusoid of the distance.",
  },
  t5: { name: "T5", idea: "A trained number for each bucket of distances is added to the score." },
  rope: { name: "RoPE", idea: "Queries and keys are rotated by angles that grow with the position." },
  alibi: { name: "ALiBi", idea: "A penalty that grows with the distance is added to the score." },
  kerple: { name: "KERPLE", idea: "A penalty by the logarithm or a power of the distance, trained." },
  xpos: { name: "xPos", idea: "RoPE with a decay by distance." },
  fire: { name: "FIRE", idea: "A small network of the distance as a share of the way back to the start." },
  sandwich: { name: "Sandwich", idea: "The product of two sinusoidal vectors is added to the score." },
  tisa: { name: "TISA", idea: "A trained sum of bell curves over the distance is added to the score." },
  "relative-scalar": {
    name: "Relative table",
    idea: "A trained number for each clipped distance is added to the score.",
  },
  cope: {
    name: "CoPE",
    idea: "Distance is counted in gates of the content, and a vector for the count meets the query.",
  },
  forgetting: { name: "Forgetting", idea: "Each token has a forget gate; the score falls by the gates in between." },
  deberta: { name: "DeBERTa", idea: "Trained vectors for the distance meet both the query and the key." },
  dape: { name: "DAPE", idea: "A small network adapts a bias of the distance to the content, over all heads." },
  "axial-rope": {
    name: "RoPE 2-D",
    idea: "Some pairs of lanes turn by a token's row, the others by its column.",
  },
  swin: { name: "Swin", idea: "A trained number for each difference of rows and columns is added to the score." },
  levit: { name: "LeViT", idea: "A trained number for each distance of rows and columns, the same in all directions." },
  "log-cpb": { name: "Log-CPB", idea: "A small network turns the difference of rows and columns into a number." },
  "sinusoidal-2d": { name: "Sinusoidal 2-D", idea: "Half of the waves tell the row, the other half the column." },
  "axial-learned": { name: "Axial learned", idea: "A trained vector for the row and one for the column." },
  "learned-grid": { name: "Learned grid", idea: "A trained vector for each place of a grid, as a ViT has." },
  pope: { name: "PoPE", idea: "Each lane is a length turned by the position: what and where stay apart." },
  "dynamic-bias": { name: "Dynamic bias", idea: "A small network turns the distance into a number for the score." },
};

export const schemeFields = {
  base: "base",
  layout: "layout",
  denominator: "denominator",
  maxDistance: "largest distance",
  clampLength: "clamp length",
  buckets: "buckets",
  theta: "theta",
  rotaryDim: "rotary dim (0: all)",
  slopes: "slopes (standard, or one a head)",
  kind: "kind",
  scaleBase: "scale base",
  noRopeLayerInterval: "every n-th layer does not turn (0: all turn)",
  positions: "positions",
  terms: "terms",
  biasedHeads: "biased heads (0: all)",
  width: "width",
  threshold: "threshold",
  dim: "width of the waves",
  kernels: "bells",
  depth: "hidden layers",
  distance: "distance",
  order: "order of the pairs",
  frequencies: "frequencies",
  firstAxis: "first axis",
  combine: "rows and columns",
  gridHeight: "rows of the grid",
  gridWidth: "columns of the grid (0: one row)",
};

export const tasks = {
  text: {
    name: "Text",
    rule: "Guess the next character. The loss says how surprised the model is, in [[nats|nats]]; 0 is not at all.",
  },
  lookback: {
    name: "Look back",
    rule: "The answer is the symbol a fixed number of places before. Tests exact distances.",
  },
  "fixed-position": {
    name: "Fixed place",
    rule: "The answer is always the symbol at one fixed place. Tests absolute positions.",
  },
  first: {
    name: "First symbol",
    rule: "The answer is always the first symbol of the row. Tests reaching all the way back.",
  },
  needle: {
    name: "Needle",
    rule: "A mark hides in the first quarter; the answer is that mark for ever after. Tests long memory.",
  },
  recall: {
    name: "Recall",
    rule: "Pairs of key and value; at a key seen before, the answer is its value. At this size learning it is a matter of luck: one seed does, another does not.",
  },
  "position-modulo": {
    name: "Place mod 4",
    rule: "The answer is the place counted 0, 1, 2, 3, 0, … Tests counting.",
  },
  majority: {
    name: "Majority",
    rule: "Coin flips; the answer is the side that leads so far, where the lead is clear. Needs no positions.",
  },
  copy: { name: "Copy", rule: "Symbols, a separator, then the same symbols again in order." },
  reverse: { name: "Reverse", rule: "Symbols, a separator, then the same symbols backwards." },
};

export const glossary = {
  encoding:
    "Positional encoding: how a transformer is told where a token stands. Attention by itself sees a set of tokens without order; each encoding adds the order in another way.",
  nats: "Nat: a unit of surprise, the natural logarithm of one over the probability that the model gave to what came. 0.69 nats is a fair coin, 2.3 is one in ten.",
  loss: "Loss: the mean surprise of the model over what it had to predict. Lower is better.",
  attention:
    "Attention: each token asks with a query, all tokens answer with a key. The score is the product of the two; softmax turns a query's scores into weights that sum to 1, and the token takes that much of each value.",
  query:
    "Query and key: two vectors that a head makes of a token. A large product of query and key means that the token looks there.",
  embedding:
    "Embedding: the vector that stands for a token when it enters the model. An encoding that acts here adds another vector for the position.",
  rotation:
    "Rotation: pairs of numbers in a vector are turned like hands of a clock, by an angle that grows with the position. The vector keeps its length.",
  score:
    "Score: how well a query matches a key, before the softmax makes weights of all scores; their inner product, divided by the square root of the width of a head.",
  value:
    "Value: what a token hands on. The output of attention is the mean of all values, each with the weight that its key earned.",
  key: "Key: the vector by which a token is found. It is compared with the queries of others.",
  head: "Head: attention is done several times side by side, each time with queries, keys and values of its own. Each of these is a head.",
  softmax:
    "Softmax: makes weights of scores. Each is e to the power of its score, divided by the sum of all of them; they add up to one.",
  mask: "Causal mask: a token sees itself and those before it, never those after it. So a model can be trained to guess what comes next.",
  trained:
    "Trained length L: how long the texts were that the model was trained on. Positions from L on were never seen.",
  bias: "Bias: a number added to a score that does not depend on what the tokens are, only on where they stand.",
  product: "Inner product: the sum of products of two vectors' numbers. Large when they point the same way.",
  wavelength: "Wavelength: how many positions it takes a wave, or a turning pair, to be back where it was.",
  seed: "Seed: where random numbers start. The same seed gives the same numbers on every machine.",
  extrapolation: "Extrapolation: working on texts longer than those that the model was trained on.",
};
