// SPDX-License-Identifier: MIT
// Weights that `poslab extrapolate --save` wrote, run in PyTorch by tests/reference/experiment_weights.py: skipped where
// python3 has no torch.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "./support.js";

const python = process.env["PYTHON"] ?? "python3";
const hasTorch = spawnSync(python, ["-c", "import torch, numpy, safetensors"]).status === 0;
if (!hasTorch) process.stderr.write(`PyTorch is not compared with: ${python} has no torch, numpy and safetensors\n`);

test.skipIf(!hasTorch)(
  "the weights of an experiment have the same logits in PyTorch",
  () => {
    const script = join(projectRoot, "tests/reference/experiment_weights.py");
    const { status, stdout, stderr } = spawnSync(python, [script], { encoding: "utf8" });
    expect(`${stdout}${stderr}`).toMatch(/\n[1-9]\d+ passed, 0 failed\n$/);
    expect(status).toBe(0);
  },
  600_000,
);
