// SPDX-License-Identifier: MIT
// 计算核心的错误，用简体中文说出来：按错误代码成句，“允许什么”按短语翻译。

import type { ErrorCode } from "../engine/poslab.js";

export interface ErrorParts {
  argument: string;
  given: string;
  /** 已译成中文 */ allowed: string;
  suggestion: string;
  /** 英文原句 */ message: string;
}

const hint = (suggestion: string) => (suggestion ? `；是不是想写“${suggestion}”？` : "");
const wrong = ({ argument, given, allowed, suggestion }: ErrorParts) =>
  `${argument}${given ? `：给出的是 ${given}` : ""}；允许的是${allowed}${hint(suggestion)}`;

export const sentences: Record<ErrorCode, (parts: ErrorParts) => string> & { other: (message: string) => string } = {
  unknownName: ({ argument, given, allowed, suggestion }) =>
    `${argument}：不认识 ${given}${hint(suggestion) || (allowed ? `；允许的是${allowed}` : "")}`,
  type: wrong,
  shape: wrong,
  range: wrong,
  contradiction: wrong,
  missing: ({ argument, allowed }) => `缺少 ${argument}${allowed ? `；需要${allowed}` : ""}`,
  memory: ({ argument, given, allowed }) =>
    `${argument}：要求 ${given} 字节，放不下${allowed ? `；上限为${allowed}` : ""}`,
  notDefined: ({ argument, given, allowed }) =>
    `${argument}${given ? `：给出的是 ${given}` : ""}；在那里没有定义：${allowed}`,
  format: ({ argument, allowed }) => `${argument} 的格式不对，应为${allowed}`,
  diverged: ({ given }) => `第 ${given} 步出现了不是有限的数；保留的是上一步的权重。调低学习率或许有用`,
  state: ({ argument, given, allowed }) => `${argument}${given ? `：给出的是 ${given}` : ""}；此时不行：${allowed}`,
  load: ({ message }) => `计算模块未能载入（${message}）`,
  disposed: () => "它已经被释放，不能再用",
  aborted: () => "已中止",
  worker: () => "工作线程停止了",
  other: (message) => `计算核心的原话：${message}`,
};

/** 不说“允许什么”也成句的错误。 */
export const wholeWithoutAllowed: ReadonlySet<ErrorCode> = new Set([
  "unknownName",
  "missing",
  "memory",
  "diverged",
  "load",
  "disposed",
  "aborted",
  "worker",
]);

/** 先匹配的先用；$1、$2 是短语里的数。 */
export const allowedPhrases: readonly (readonly [RegExp, string])[] = [
  [/^a whole number from (\S+) to (\S+)$/, " $1 到 $2 之间的整数"],
  [/^a whole number of at least (\S+)$/, "不小于 $1 的整数"],
  [/^a whole number, 0 or larger$/, "不小于 0 的整数"],
  [
    /^a whole number from (\S+) \(one more than half of the buckets of a side\) to (\S+)$/,
    "从 $1（一侧桶数的一半加一）到 $2 的整数",
  ],
  [/^a whole number$/, "整数"],
  [/^a number from (\S+) to (\S+)$/, " $1 到 $2 之间的数"],
  [/^a number above 0 and at most (\S+)$/, "大于 0 且不超过 $1 的数"],
  [/^a number above 0$/, "大于 0 的数"],
  [/^a number of at least (\S+)$/, "不小于 $1 的数"],
  [/^a number of at most (\S+)$/, "不超过 $1 的数"],
  [/^a finite number$/, "有限的数"],
  [/^finite numbers of at least 0$/, "不小于 0 的有限的数"],
  [/^a number$/, "一个数"],
  [/^a text$/, "一段文字"],
  [/^true or false$/, " true 或 false"],
  [/^a list of numbers$/, "一列数"],
  [/^a list of whole numbers$/, "一列整数"],
  [/^one of the known words, or a list of numbers$/, "已知的词，或一列数"],
  [/^one of (.+)$/, "下列之一：$1"],
  [/^an even number from (\S+) to (\S+)$/, " $1 到 $2 之间的偶数"],
  [/^an even number of lanes from 2 to the head's (\S+)$/, "从 2 到每头维数 $1 的偶数"],
  [/^an even number of at least (\S+)$/, "不小于 $1 的偶数"],
  [/^an even number \(pairs of waves\)$/, "偶数（波两两成对）"],
  [/^as many numbers as there are heads, (\S+)$/, "每头一个数，共 $1 个"],
  [/^(\S+) numbers, one a pair of lanes$/, " $1 个数，每对一个"],
  [/^at most the number of heads, (\S+)$/, "不超过头数 $1"],
  [
    /^at most (\S+) after this prompt: the encoding ends after (\S+) positions$/,
    "开头之后最多 $1 个：这种编码只有 $2 个位置",
  ],
  [
    /^at most (\S+) with this text, whose training part \(nine tenths\) has (\S+) characters \(this length needs a text of (\S+)\)$/,
    "不超过 $1：这段文字的训练部分（前九成）有 $2 个字符，这个长度需要 $3 个字符的文字",
  ],
  [
    /^at most (\S+) with this text, whose test part \(the last tenth\) has (\S+) characters \(this length needs a text of (\S+)\)$/,
    "不超过 $1：这段文字的测试部分（最后一成）有 $2 个字符，这个长度需要 $3 个字符的文字",
  ],
  [/^at most (\S+) bytes$/, "不超过 $1 字节"],
  [/^at most (\S+) bytes for the model's weights and gradients$/, "不超过 $1 字节（模型权重与梯度）"],
  [/^at most (\S+) bytes for the model's weights$/, "不超过 $1 字节（模型权重）"],
  [/^at most (\S+) bytes for one layer's activations$/, "不超过 $1 字节（一层的中间结果）"],
  [/^at most (\S+) for heads times headDim$/, "头数乘以每头维数不超过 $1"],
  [/^at most (\S+) lanes$/, "不超过 $1 维"],
  [/^more than half of the buckets and one, (\S+)$/, "大于桶数的一半加一，即 $1"],
  [/^a table with rows of (\S+) numbers$/, "每行 $1 个数的表"],
  [/^as many positions as x has rows, (\S+)$/, "与 x 的行数相同的位置数 $1"],
  [/^a divisor of model\.heads \((\S+)\)$/, "头数 $1 的因数"],
  [/^a divisor of model\.dim \((\S+)\)$/, "模型维数 $1 的因数"],
  [/^a position from (\S+) to (\S+): the table has (\S+) rows$/, "位置须在 $1 到 $2 之间，表有 $3 行"],
  [/^a difference of rows below (\S+), the height of the grid$/, "行差须小于网格行数 $1"],
  [/^a difference of columns below (\S+), the width of the grid$/, "列差须小于网格列数 $1"],
  [
    /^a place of the grid, which has (\S+) rows of (\S+), after (\S+) other tokens$/,
    "须在网格之内，网格有 $1 行，每行 $2 个位置，前面另有 $3 个词元",
  ],
  [/^[\w-]+(\|[\w-]+)+$/, " $&"],
  [/^a tensor( \[.+\])?$/, "一个张量$1"],
  [/^shape (\[.+\])$/, "形状 $1"],
  [/^a tensor of this scheme$/, "这种编码的张量"],
  [/^no field \(this scheme has none\)$/, "没有参数（这种编码没有参数）"],
  [/^how many heads there are$/, "头数"],
  [/^the width of a query and key head$/, "查询与键每头的维数"],
  [/^the width of a token's vector$/, "词元向量的维数"],
  [/^the number of heads and their width$/, "头数与每头维数"],
  [/^the logarithms of the forget gates \[H, Lk\]$/, "遗忘门的对数 [H, Lk]"],
  [/^the length that the model was trained on$/, "模型的训练长度"],
  [/^how many rows the table has$/, "表的行数"],
  [/^above (\S+) under (\S+)$/, "在 $2 之下大于 $1"],
  [/^at least (\S+) under ntk and dynamic scaling$/, "在 ntk 与 dynamic 缩放下不小于 $1"],
  [/^left out where slopes are given.*$/, "在给出斜率时省略"],
  [/^either training\.steps or training\.tokens, not both$/, " training.steps 与 training.tokens 之一，不能都给"],
  [/^a scheme that only rotates: .*$/, "只做旋转的编码"],
  [/^a scheme that rotates queries and keys, such as rope$/, "旋转查询和键的编码，如 rope"],
];
