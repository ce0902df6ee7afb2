// SPDX-License-Identifier: MIT
// Loading the module, owning its memory, giving it back.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { loadPosLab, PosLabError } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();
const file = new URL("../../bindings/js/wasm/poslab.wasm", import.meta.url);
const bytes = readFileSync(file);

describe("loading", () => {
  const server = createServer((request, response) => {
    const module = { "content-type": "application/wasm" };
    if (request.url === "/poslab.wasm") response.end(bytes);
    else if (request.url === "/typed.wasm") response.writeHead(200, module).end(bytes);
    else if (request.url === "/typed-page") response.writeHead(200, module).end("<!doctype html>");
    else if (request.url === "/cut-off") {
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 9), () => response.destroy());
    } else if (request.url === "/page") response.end("\n <!doctype html><title>not here</title>");
    else response.writeHead(404).end("no");
  });
  const address = new Promise<string>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  afterAll(() => server.close());

  it("takes bytes, a buffer, a file address, a web address and a compiled module", async () => {
    const base = await address;
    const copy = new Uint8Array(bytes).buffer;
    for (const wasm of [
      new Uint8Array(bytes),
      copy,
      file,
      file.href,
      `${base}/poslab.wasm`,
      new URL("/poslab.wasm", base),
      `${base}/typed.wasm`,
      await WebAssembly.compile(bytes),
    ]) {
      const loaded = await loadPosLab({ wasm });
      expect(loaded.slopes({ type: "alibi" }, { heads: 2 })).toEqual(lab.slopes({ type: "alibi" }, { heads: 2 }));
    }
  });

  it.each<[string, (base: string) => unknown, string]>([
    ["an HTML page", (base) => `${base}/page`, "is an HTML page, not the WebAssembly module"],
    ["an HTML page called a module", (base) => `${base}/typed-page`, "could not be compiled"],
    ["an answer that breaks off", (base) => `${base}/cut-off`, "cut-off could not be fetched"],
    ["a missing file", (base) => `${base}/nothing`, "the server answered 404"],
    ["a server that is not there", () => "http://127.0.0.1:1/poslab.wasm", "could not be fetched"],
    ["a path that is not there", () => new URL("nothing.wasm", import.meta.url), "could not be read"],
    [
      "bytes of something else",
      () => new Uint8Array([1, 2, 3, 4]),
      "the bytes given as wasm is not a WebAssembly module",
    ],
    ["half a module", () => new Uint8Array(bytes.subarray(0, 1000)), "could not be compiled"],
    ["a number", () => 5, "wasm: 5 was given; a URL, bytes or a WebAssembly.Module"],
  ])("names %s", async (_, wasm, message) => {
    const error: unknown = await loadPosLab({ wasm: wasm(await address) as string }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PosLabError);
    expect((error as PosLabError).message).toContain(message);
  });

  it("says so when the engine lacks relaxed SIMD, and knows its options", async () => {
    const hasRelaxed = WebAssembly.validate(
      new Uint8Array([
        0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253,
        15, 253, 128, 2, 11,
      ]),
    );
    const relaxed = loadPosLab({ variant: "relaxed" });
    if (hasRelaxed) await expect(relaxed).resolves.toMatchObject({ info: { variant: "relaxed" } });
    else await expect(relaxed).rejects.toThrowError('variant "simd" works everywhere');
    await expect(loadPosLab({ variant: "fast" as never })).rejects.toThrowError('"simd" or "relaxed"');
    await expect(loadPosLab({ wasmUrl: "x" } as never)).rejects.toThrowError("wasmUrl is not known");
  });

  it("makes instances that share nothing", async () => {
    const other = await loadPosLab();
    const corpus = other.corpus("some text, long enough to be cut in two");
    corpus.dispose();
    expect(lab.corpus("another text, long enough as well").vocabulary).toBeGreaterThan(5);
  });
});

describe("the module of the classic schemes", () => {
  const names = ["none", "sinusoidal", "learned", "shaw", "transformer-xl", "t5", "rope", "alibi", "xpos", "kerple"];

  it("has ten of the schemes, and gives the same bits", async () => {
    const classic = await loadPosLab({ schemes: "classic" });
    expect(classic.info.schemes.map(({ type }) => type)).toEqual(names);
    const json = {
      task: { type: "lookback", distance: 3 },
      model: { dim: 16, heads: 2, layers: 1, feedForward: 16 },
      training: { steps: 3, batch: 2, length: 16 },
      test: { lengths: [16, 32], windows: 2 },
      encodings: names.map((type) => ({ type })),
      atTest: [],
    };
    const results = (one: typeof lab): Float64Array[] => {
      const experiment = one.checkExperiment(json);
      return experiment.encodings.map((_, encoding) => {
        const run = one.createRun(experiment, encoding, 1);
        run.advance(3);
        const losses = run.losses();
        run.dispose();
        return losses;
      });
    };
    expect(results(classic)).toEqual(results(lab));
  });

  it("says of the others where they are", async () => {
    const classic = await loadPosLab({ schemes: "classic" });
    const call = (): unknown => classic.bias({ type: "fire" } as never, { heads: 1, queryLength: 1, keyLength: 1 });
    expect(call).toThrow(
      /position\.type: "fire" is not known; one of none, .*kerple \(.*schemes: "all".*\) is allowed/,
    );
  });

  it("is asked for by name, and not with relaxed SIMD", async () => {
    await expect(loadPosLab({ schemes: "some" } as never)).rejects.toThrow(
      'schemes: "some" is not known; "all" or "classic" is allowed',
    );
    await expect(loadPosLab({ schemes: "classic", variant: "relaxed" })).rejects.toThrow(
      'variant "relaxed" only "all"',
    );
  });
});

describe("objects that own memory", () => {
  const text = "a text that is long enough to be cut into two parts, and then some more of it";

  it("can be disposed of twice, and say so when they are used afterwards", () => {
    const corpus = lab.corpus(text);
    expect(corpus.disposed).toBe(false);
    corpus.dispose();
    corpus.dispose();
    corpus[Symbol.dispose]();
    expect(corpus.disposed).toBe(true);
    let error: unknown;
    try {
      corpus.encode("a");
    } catch (reason) {
      error = reason;
    }
    expect(error).toBeInstanceOf(PosLabError);
    expect(error).toMatchObject({
      code: "disposed",
      message: "the corpus has been disposed of; it cannot be used any more",
    });
  });

  it("a run outlives the handle of its corpus and is refused after dispose", () => {
    const experiment = lab.checkExperiment({
      task: { type: "first" },
      training: { length: 8, steps: 1, batch: 1 },
      test: { lengths: [8], windows: 1 },
      model: { dim: 8, heads: 1, layers: 1, feedForward: 8 },
    });
    const run = lab.createRun(experiment, 0, 1);
    run.advance(1);
    run.dispose();
    expect(() => run.progress()).toThrowError("the run has been disposed of");
  });

  it("a corpus knows its vocabulary, writes and reads it, and counts bytes when asked", () => {
    const corpus = lab.corpus("海上生明月，天涯共此时。".repeat(10));
    expect(corpus.decode(corpus.encode("明月x"))).toEqual(["明", "月", "\ufffd"]);
    expect(corpus.trainingSize + corpus.testSize).toBe(120);
    const asBytes = lab.corpus("海上生明月，天涯共此时。".repeat(10), "bytes");
    expect(asBytes.trainingSize + asBytes.testSize).toBe(360);
    expect(() => lab.corpus(new Uint8Array([0x61, 0x62, 0xff, 0x63]))).toThrowError(
      /task\.text must be UTF-8; the bytes at offset 2 are not/,
    );
    expect(() => lab.corpus("")).toThrowError(PosLabError);
  });
});

describe("memory", () => {
  /** Bytes of the module's memory. */
  const size = (): number => lab.core.memory.byteLength;

  it("stays as it is over thousands of calls, good and bad", () => {
    const x = { data: new Float32Array(64 * 64), shape: [1, 64, 64] };
    const work = (): void => {
      for (let n = 0; n < 500; n += 1) {
        lab.attention({
          query: x,
          key: x,
          value: x,
          position: { type: "rope" },
          mask: { causal: true },
          weights: true,
        });
        lab.bias({ type: "alibi" }, { heads: 8, queryLength: 64, keyLength: 64 });
        lab.frequencies(
          {
            type: "rope",
            scaling: {
              ropeType: "longrope",
              factor: 2,
              originalMaxPositionEmbeddings: 8,
              shortFactor: [1, 1],
              longFactor: [1, 2],
            },
          },
          { headDim: 4, length: 9 },
        );
        expect(() =>
          lab.attention({ query: x, key: x, value: x, position: { type: "t5", table: [[1]] } }),
        ).toThrowError(PosLabError);
        expect(() => lab.table({ type: "sinusoidal", base: -1 }, { length: 1, dim: 2 })).toThrowError(PosLabError);
      }
    };
    work();
    const before = size();
    work();
    work();
    expect(size()).toBe(before);
  });

  it("does not grow over ten thousand steps of training, nor over measurements", () => {
    const experiment = lab.checkExperiment({
      task: { type: "lookback" },
      model: { dim: 8, heads: 2, layers: 1, feedForward: 8 },
      encodings: [{ type: "shaw" }],
      training: { length: 8, steps: 10_100, batch: 1 },
      test: { lengths: [8, 16], windows: 2 },
    });
    const run = lab.createRun(experiment, 0, 1);
    run.advance(100);
    const before = size();
    for (let n = 0; n < 100; n += 1) run.advance(100);
    expect(run.progress().step).toBe(10_100);
    expect(size()).toBe(before);
    while (run.progress().phase !== "done") run.advance(1);
    expect(size()).toBe(before);
    run.dispose();
  });

  it("comes back from runs and corpora that are disposed of", () => {
    const experiment = lab.checkExperiment({
      task: { type: "lookback" },
      encodings: [{ type: "shaw" }],
      training: { length: 16, steps: 4, batch: 4 },
      test: { lengths: [16], windows: 2 },
    });
    const work = (): void => {
      for (let n = 0; n < 15; n += 1) {
        const run = lab.createRun(experiment, 0, 1);
        run.advance(2);
        run.snapshot();
        run.dispose();
        lab.corpus("text ".repeat(20_000)).dispose();
      }
    };
    work();
    const before = size();
    work();
    work();
    expect(size()).toBe(before);
  });
});

describe("tasks", () => {
  it("are listed with what random guessing gets", () => {
    expect(lab.tasks().map(({ type }) => type)).toEqual([
      "text",
      "lookback",
      "fixed-position",
      "first",
      "needle",
      "recall",
      "position-modulo",
      "majority",
      "copy",
      "reverse",
    ]);
    expect(lab.tasks()[1]).toMatchObject({ text: false, vocabulary: 16, guessAccuracy: 1 / 16 });
  });

  it("show sample rows whose answers can be checked by hand", () => {
    const { symbols, answers } = lab.sample({ type: "lookback", distance: 2 }, { length: 12, seed: 3 });
    expect(symbols).toHaveLength(12);
    answers.forEach((answer, place) => expect(answer).toBe(place < 2 ? null : symbols[place - 2]));
    expect(lab.sample({ type: "lookback", distance: 2 }, { length: 12, seed: 3 })).toEqual({ symbols, answers });
    const modulo = lab.sample({ type: "position-modulo" }, { length: 9 });
    expect(modulo.answers).toEqual(["0", "1", "2", "3", "0", "1", "2", "3", "0"]);
    const corpus = lab.corpus("the quick brown fox jumps over the lazy dog. ".repeat(8));
    const text = lab.sample({ type: "text" }, { length: 10, corpus });
    expect(text.answers.slice(0, 9)).toEqual(text.symbols.slice(1));
    expect(() => lab.sample({ type: "copy" }, { length: 3 })).toThrowError(PosLabError);
  });
});
