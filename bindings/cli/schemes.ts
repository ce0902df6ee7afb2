// SPDX-License-Identifier: MIT
// `poslab schemes`: the encodings of this build, the hooks of attention that each one uses, and where its formula comes from.

import { loadPosLab } from "../js/index.js";
import { borderless } from "./borderless.js";
import { exitStatus } from "./failure.js";

/** Papers and sections; an encoding without an entry is listed all the same. */
const sources: Record<string, string> = {
  none: "no positions; Haviv et al. 2022",
  sinusoidal: "Vaswani et al. 2017, section 3.5",
  learned: "Gehring et al. 2017; Devlin et al. 2019 (BERT)",
  shaw: "Shaw et al. 2018, section 3",
  "transformer-xl": "Dai et al. 2019, section 3.3",
  t5: "Raffel et al. 2020, section 2.1",
  rope: "Su et al. 2021, section 3",
  alibi: "Press et al. 2022, section 3",
  xpos: "Sun et al. 2022, section 2",
  kerple: "Chi et al. 2022, section 4",
  fire: "Li et al. 2024, equation 4",
  sandwich: "Chi et al. 2023, section 5",
  tisa: "Wennberg & Henter 2021, equation 6",
  "relative-scalar": "after Shaw et al. 2018, numbers for vectors",
  cope: "Golovneva et al. 2024, equations 3 to 6",
  forgetting: "Lin et al. 2025, equation 6",
  deberta: "He et al. 2021, equation 4",
  dape: "Zheng et al. 2024, equation 3",
  pope: "Gopalakrishnan et al. 2025",
  "axial-rope": "Su et al. 2021 in two dimensions; Qwen2-VL, EVA-02, Pixtral, DINOv3",
  swin: "Liu et al. 2021, equation 4",
  levit: "Graham et al. 2021, section 4.3",
  "log-cpb": "Liu et al. 2022 (Swin V2), equation 4",
  "sinusoidal-2d": "He et al. 2022 (MAE), Carion et al. 2020 (DETR)",
  "axial-learned": "Ho et al. 2019; Kitaev et al. 2020 (Reformer)",
  "learned-grid": "Dosovitskiy et al. 2021 (ViT)",
  "dynamic-bias": "Wang et al. 2022 (CrossFormer), section 3.2",
};

export async function listSchemes(options: { json?: boolean }): Promise<number> {
  const lab = await loadPosLab();
  const list = lab.info.schemes.map(({ type, hooks }) => ({ type, hooks, source: sources[type] ?? "" }));
  if (options.json) {
    process.stdout.write(`${JSON.stringify(list)}\n`);
    return exitStatus.done;
  }
  const rows = list.map(({ type, hooks, source }) => [type, hooks.join(", ") || "–", source]);
  process.stdout.write(`${borderless(["encoding", "hooks", "source"], rows, ["left", "left", "left"])}\n`);
  return exitStatus.done;
}
