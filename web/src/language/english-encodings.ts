// SPDX-License-Identifier: MIT
// The words of the Encodings page in English; they are loaded with the page.

export const english = {
  heading: "What is a positional encoding?",
  lead: "Attention sees a set of tokens, not a row of them. Each [[encoding|encoding]] below tells it where tokens stand, and each does so at one of four places: the token's [[embedding|embedding]], a [[rotation|rotation]] of queries and keys, the [[score|score]], or the [[value|value]].",
  galleryNote:
    "Each picture: the scores of a text whose tokens are all alike. Whatever structure there is comes from the encoding.",
  loading: "Loading …",
  failed: (message: string) => `The module could not be loaded: ${message}`,
  unknown: (type: string) => `There is no encoding called “${type}” here.`,
  all: "All encodings",
  hooks: {
    embedding: "Added to the embedding",
    rotation: "Turns queries and keys",
    score: "Changes the score",
    value: "Adds to the value",
    none: "Does nothing",
  },
  hookTags: { embedding: "embedding", rotation: "rotation", score: "score", value: "value", none: "no hook" },
  beside: "Beside it",
  besideNone: "none",
  refused: (message: string) => `The core refuses this: ${message}`,
  learns: (list: string, seed: string) =>
    `It learns ${list}; what is drawn are start values, as training would draw them with seed ${seed}.`,
  onward: {
    question: "See it work:",
    attention: "who looks at whom under it",
    race: "race it past the trained length",
  },
  formula: {
    heading: "Formula",
    symbols: "Symbols",
    value: (name: string) => `${name}, value`,
    none: "No formula is written down for this encoding yet; everything below is computed from it.",
    length: "trained length",
    dim: "width of a token",
    heads: "heads",
    headDim: "width of a head",
    seed: "seed of random numbers",
  },
  picture: {
    heading: "Picture",
    position: "position",
    dimension: "dimension",
    query: "query at",
    key: "key at",
    head: "Head",
    headNumber: (number: string) => `head ${number}`,
    rows: "The rows p(i)",
    rowsSummary: (positions: string, dim: string) =>
      `${positions} positions by ${dim} dimensions; the line is the trained length.`,
    rowsSaid: (position: string, column: string, value: string) =>
      `position ${position}, dimension ${column}: ${value}`,
    waves: "Single dimensions as waves",
    wave: (column: string) => `dimension ${column}`,
    wavesSummary: (list: string) => `Dimensions ${list} against position.`,
    value: "value",
    similarity: "How alike two positions are: p(i) · p(j)",
    similaritySummary: (low: string, high: string) => `Inner products of all pairs of rows, from ${low} to ${high}.`,
    similaritySaid: (row: string, column: string, value: string) => `p(${row}) · p(${column}) = ${value}`,
    hands: "Each pair is a hand that turns",
    handsNote:
      "The shaded part is what training shows: positions 0 to L − 1. A hand outside its shade is at an angle the model has never seen.",
    handsSummary: (position: string, outside: string, pairs: string) =>
      `At position ${position}, ${outside} of ${pairs} hands stand at an angle not seen in training.`,
    handSaid: (pair: string, position: string, x: string, y: string) =>
      `pair ${pair} at position ${position}: cos ${x}, sin ${y}`,
    cosine: "cosine",
    sine: "sine",
    outside: "angle never seen",
    yes: "yes",
    no: "no",
    noHands:
      "This encoding does not turn a vector by itself, so there are no hands to draw; the scores below show what it does.",
    pair: (number: string) => `pair ${number}`,
    play: "Play",
    pause: "Pause",
    wavelengths: "Positions until a pair is back where it was",
    wavelengthsSummary: (finished: string, pairs: string) =>
      `${finished} of ${pairs} pairs finish a turn within the trained length.`,
    pairAxis: "pair",
    wavelengthAxis: "positions",
    wavelength: "wavelength",
    length: "trained length",
    distance: "Score against distance",
    distanceAxis: "distance i − j",
    scoreAxis: "score",
    distanceSummary: (near: string, far: string, reach: string) =>
      `Mean score ${near} at distance 0 and ${far} at distance ${reach}.`,
    band: "Line: mean. Band: from the 10th to the 90th percentile over random vectors.",
    content: "Key",
    contents: { same: "the query's own vector", unrelated: "another random vector" },
    bias: "What is added to the score, by distance",
    biasAxis: "bias",
    biasSummary: (list: string) => `At the trained length: ${list}.`,
    matrix: "What is added to the score, query by key",
    matrixContent: "Scores of a text whose tokens are all alike, query by key",
    matrixSummary: (side: string) => `${side} queries by ${side} keys; lines at the trained length.`,
    matrixSaid: (query: string, key: string, value: string) => `query ${query}, key ${key}: ${value}`,
    buckets: "Distances share buckets",
    bucketsAxis: "bucket",
    bucketsSummary: (count: string, reach: string) => `${count} buckets for distances up to ${reach}.`,
    added: "What is added to the output",
    addedNote: "Attention over values that are all zero: what is left is the encoding's own share.",
    addedSummary: (queries: string, dim: string) => `${queries} queries by ${dim} dimensions.`,
    addedSaid: (query: string, column: string, value: string) => `query ${query}, dimension ${column}: ${value}`,
    plain: "Nothing is added anywhere. The scores of a text whose tokens are all alike are all the same.",
  },
  property: {
    heading: "Properties, proved here",
    lead: (draws: string) => `Each one is tried on ${draws} random draws, with numbers from the core.`,
    proving: (done: string, draws: string) => `${done} of ${draws} draws …`,
    again: "Prove again with a new seed",
    holds: "Holds",
    fails: "Does not hold",
    refused: "Cannot be asked",
    largest: (deviation: string, tolerance: string) => `largest deviation ${deviation}; rounding is up to ${tolerance}`,
    change: (change: string, tolerance: string) => `largest change ${change}; rounding is up to ${tolerance}`,
    order: {
      name: "It tells order",
      holds: "Two earlier tokens that change places change what the last one gets.",
      fails: "Two earlier tokens can change places and the last one gets the same.",
      worst: (first: string, second: string) => `tokens ${first} and ${second} swapped`,
    },
    shift: {
      name: "Only distances count",
      holds: "All positions moved by the same number: no score changes.",
      fails: "All positions moved by the same number: scores change.",
      worst: (position: string, shift: string) => `from position ${position}, moved by ${shift}`,
    },
    norm: {
      name: "Lengths are kept",
      holds: "Vectors are as long after as before; nothing is made louder by where it stands.",
      fails: "How long a vector is depends on where it stands.",
      worst: (position: string) => `at position ${position}`,
    },
    map: {
      name: "One map moves every position",
      holds: "p(i) · p(j) depends on j − i alone; so one rotation M takes p(i) to p(i + s) for every i.",
      fails: "p(i) · p(j) depends on where i is; so no one rotation takes p(i) to p(i + s) for every i.",
      worst: (first: string, second: string, shift: string) => `p(${first}) · p(${second}), moved by ${shift}`,
    },
    monotone: {
      name: "Further never scores higher",
      holds: "The same key further away never gets a higher score.",
      fails: "The same key gets a higher score further away, somewhere.",
      worst: (head: string, distance: string) => `head ${head}, from distance ${distance} to the next`,
    },
  },
  beyond: {
    heading: (length: string) => `Beyond ${length}`,
    lead: (position: string) => `What happens at position ${position}, the first one that training never showed:`,
    facts: {
      undefined: (message: string) => `It is not defined there. The core says: “${message}”`,
      nearestRow: (cosine: string, position: string) =>
        `Its row is a new one; the trained row most like it is that of position ${position}, with a cosine of ${cosine}.`,
      unseenAngles: (pairs: string, of: string) =>
        `${pairs} of ${of} pairs have not finished their first turn: from here on they stand at angles never seen.`,
      noUnseenAngles: (of: string) => `All ${of} pairs have been through a whole turn: no single angle is new.`,
      sameScore: "A key at this distance scores as one at the last trained distance: nothing new happens.",
      lowerScore: (from: string, to: string) =>
        `A key at this distance scores lower than any before it: ${to} after ${from}. The further, the less it counts.`,
      otherScore: (largest: string) => `The score changes by up to ${largest} to a value of its own.`,
      nothing: "Nothing changes: there is nothing that a position could change.",
    },
    recorded: {
      sentence: (length: string, parts: string) =>
        `Measured in the recorded race, where a small model was trained with it on ${length} characters: ${parts}.`,
      lossAt: (loss: string, length: string) => `${loss} nats a character at ${length}`,
      undefinedAt: (length: string) => `not defined at ${length}`,
      link: "See it beside the others.",
    },
    rowsCurve: "Cosine with the most similar trained row",
    rowsLabel: "most similar row",
    biasCurve: "What is added to the score, far past the trained length",
    scoresCurve: "Score by distance, far past the trained length",
    cosine: "cosine",
  },
  use: {
    heading: "Use it",
    who: "Who uses it",
    models: "Models",
    convention: "Convention",
    print: "Fingerprint",
    printNote: {
      table: "The row of position 3, 8 wide.",
      rotate: "A vector of 8 numbers turned to position 3.",
      bias: "The bias of 2 heads for a query at position 5 and keys at 0 to 5.",
      scores: "The scores of 2 heads, 8 wide, for a query at position 5 and keys at 0 to 5.",
    },
    printRamp:
      "Vectors, gates and learned tensors are the ramp ((7 n) mod 13 − 6) / 8, moved by 1 where a sign is needed. The programs below print these numbers.",
    copy: (name: string) => `Copy ${name}`,
    copied: "Copied",
    sources: "Sources",
    noPrint: (message: string) => `With these settings there is no fingerprint: ${message}`,
  },
  texts: {
    none: "The model gets no position at all. With a [[mask|causal mask]] it can still learn to count: the first token sees one key, the second two, and so on. Training finds that trick; it does not always carry past the [[trained|trained length]].",
    sinusoidal:
      "Every position gets a row of sines and cosines, from fast to slow, like the digits of a clock. Rows exist for every position, but the model only ever learned from the first L of them.",
    learned:
      "Every position gets a row of its own that training finds. Nothing ties neighbouring rows together, and past the table there is no row at all.",
    shaw: "Distances get vectors, not positions. The [[key|key]] meets the [[query|query]] together with the vector of their distance; distances further than the clip share one vector, so far is simply “far”.",
    "transformer-xl":
      "The score has two terms: how well contents match, and how well the query likes the distance. The distance enters as a sinusoid that a trained matrix reads, so any distance has a value.",
    t5: "One trained number a [[head|head]] for each bucket of distances: near distances have buckets of their own, far ones share ever wider ones, and the last bucket holds all the rest.",
    rope: "Pairs of numbers in queries and keys are turned by an angle that grows with the position, each pair at its own pace. [[product|Inner products]] then depend on the difference of angles, hence on distance alone. Where tokens have a time, a row and a column, the pairs are shared out among the three (M-RoPE).",
    alibi:
      "Nothing is added to tokens; each head takes a fixed slope off the [[score|score]] for every step of distance. Steep heads look near, flat ones far. There is nothing to learn, and nothing new past L.",
    kerple:
      "Like ALiBi with trained coefficients, and a logarithm or a power instead of a straight line: each head finds how fast the past should fade.",
    xpos: "RoPE with a decay: pairs that turn fast also fade fast with distance, so that far keys are judged by the slow pairs alone.",
    fire: "The distance is first made a share of the way back to the start of the text, so that it is always between 0 and 1; a small trained network turns the share into a number a [[head|head]]. Past L there are longer ways back, but no share that was never seen.",
    sandwich:
      "Take the sinusoidal rows of query and key, multiply them with each other and leave the content out: what remains falls with the distance, in ripples. It is added to the [[score|score]], weaker from head to head, and nothing is learned.",
    tisa: "Each [[head|head]] learns a few bell curves over the signed distance, how high, how wide and where; their sum is added to the [[score|score]]. Far from every bell nothing is added, so that far distances are all alike.",
    "relative-scalar":
      "The plainest relative scheme: one trained number for each distance and [[head|head]], looked up and added to the [[score|score]]. Distances further than the largest share its number.",
    "dynamic-bias":
      "Instead of a table of numbers a small trained network says what to add for each distance. It has an answer for any distance; whether it is a good one past the [[trained|trained length]] nobody has taught it.",
    cope: "Distance is counted in what matters instead of in tokens: a gate between 0 and 1, made from [[query|query]] and [[key|key]], says how much each token counts. Between two whole counts their vectors are mixed. So “three sentences ago” can be a position. Training starts from a table of zeros; here its rows are drawn at random, or there would be nothing to see.",
    forgetting:
      "Every token brings a gate between 0 and 1, read off its content; a [[key|key]] loses [[score|score]] for each gate that lies between it and the query. If all gates are alike this is ALiBi; a gate near 0 closes off everything before it.",
    deberta:
      "Content and position stay apart and meet twice: the [[query|query]] looks for a distance, and the [[key|key]] says from which distance it wants to be seen. Both kinds of vectors come from one trained table of distances.",
    dape: "A bias of the distance, here KERPLE's, is only the start: a small network that sees the [[score|scores]] and biases of all [[head|heads]] at this place adds a correction. So the same distance can weigh differently, as the content asks.",
    pope: "In RoPE the content of a pair shifts the angle at which it stands. Here every number first becomes a length, which cannot be negative, and the position alone gives the angle: what and where can be matched apart.",
    swin: "Tokens stand on a grid, the patches of an image; here a text is laid on it row by row. Each [[head|head]] learns one number for each difference of rows and columns and adds it to the [[score|score]]: a key two to the left counts otherwise than one two to the right. A difference as large as the window has no number.",
    levit:
      "As Swin, but only how many rows and columns lie between counts, not on which side: left and right, above and below share a number. The table is about a quarter as large, and a picture in a mirror looks the same to it.",
    "log-cpb":
      "Swin's table made by a small trained network. It reads the difference of rows and columns on a logarithmic scale, where near ones lie far apart and far ones close together; so a larger window needs only a small step beyond what was trained. A sigmoid keeps the result between 0 and 16.",
    "axial-rope":
      "RoPE on a grid: some pairs of a [[query|query]] or [[key|key]] turn by the row of the token, the others by its column. [[product|Inner products]] then depend on how many rows and how many columns lie between, so a pattern is found wherever in the image it is.",
    "sinusoidal-2d":
      "Half of the numbers are the sinusoid of the token's row, the other half that of its column. All tokens of a row share one half, all of a column the other. There is nothing to learn, and every place of any grid has its row of numbers.",
    "axial-learned":
      "Training finds a vector for each row and one for each column; a place gets the two of them, added up or side by side. A grid of 14 by 14 then needs 28 vectors in place of 196, and what is learned of a row holds for all of its places.",
    "learned-grid":
      "Every place of the grid has a vector of its own that training finds, and nothing says which places are neighbours. For an image of another size the table is resized like a picture, by bicubic interpolation: so larger images can be read, at the price of vectors that were never trained.",
  },
};
export type EncodingsWords = typeof english;
