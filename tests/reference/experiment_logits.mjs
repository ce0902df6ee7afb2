// SPDX-License-Identifier: MIT
// Writes FILE.logits beside each weight file of an experiment: ids, past the trained length where the positions go on, and
// the logits that the built package gives for them. For experiment_weights.py.

import { writeFileSync } from "node:fs";
import { writeSafetensors } from "../../dist/js/index.js";
import { openModel } from "../../dist/js/models.js";

for (const file of process.argv.slice(2)) {
  const model = await openModel(file);
  const { trainedLength, vocabulary } = model.info.architecture;
  const length = Math.min(3 * trainedLength, model.info.lengthLimit ?? Infinity);
  const ids = Int32Array.from({ length }, (_, place) => (7 * place * place + 3 * place) % vocabulary);
  const { data, shape } = model.logits(ids);
  writeFileSync(
    `${file}.logits`,
    writeSafetensors([
      ["ids", { data: ids, shape: [length] }],
      ["logits", { data, shape }],
    ]),
  );
  model.dispose();
}
