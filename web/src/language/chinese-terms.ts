// SPDX-License-Identifier: MIT
// 专业词汇：编码、参数、任务和词汇表。

import type { Dictionary } from "./english.js";

export const schemes: Dictionary["schemes"] = {
  none: { name: "无位置编码", idea: "只靠因果掩码。" },
  sinusoidal: { name: "正弦编码", idea: "给每个词元加上固定的正弦、余弦波。" },
  learned: { name: "可学习编码", idea: "每个位置加一个学到的向量；表外的位置没有向量。" },
  shaw: { name: "Shaw 相对编码", idea: "按截断后的相对距离，给键和值加上学到的向量。" },
  "transformer-xl": { name: "Transformer-XL", idea: "注意力分数由内容和距离两部分相加，距离用正弦波表示。" },
  t5: { name: "T5 偏置", idea: "相对距离分桶，每桶一个学到的数，加到注意力分数上。" },
  rope: { name: "旋转编码 RoPE", idea: "查询和键按位置旋转，转角随位置增大。" },
  alibi: { name: "ALiBi", idea: "距离越远，注意力分数扣得越多。" },
  kerple: { name: "KERPLE", idea: "按距离的对数或幂扣分，系数由训练得到。" },
  xpos: { name: "xPos", idea: "RoPE 加上随距离的衰减。" },
  fire: { name: "FIRE", idea: "距离先换算成占查询可回看范围的比例，再由一个小网络变成分数偏置。" },
  sandwich: { name: "Sandwich", idea: "把两个正弦位置向量的内积加到注意力分数上。" },
  tisa: { name: "TISA", idea: "若干条学到的钟形曲线之和，按相对距离加到分数上。" },
  "relative-scalar": { name: "相对距离表", idea: "截断后的每个相对距离对应一个学到的数，加到分数上。" },
  cope: { name: "CoPE", idea: "用由内容决定的门来数距离，再取该计数的向量与查询相乘。" },
  forgetting: { name: "遗忘门", idea: "每个词元有一个遗忘门，分数按中间各门的乘积衰减。" },
  deberta: { name: "DeBERTa", idea: "相对距离的可学习向量分别与查询和键相乘。" },
  dape: { name: "DAPE", idea: "一个小网络综合各头，把距离偏置按内容调整。" },
  pope: { name: "PoPE", idea: "每一维是一个按位置旋转的长度，内容与位置互不混杂。" },
  "dynamic-bias": { name: "动态位置偏置", idea: "由一个小网络把相对距离变成分数偏置。" },
};

export const schemeFields: Dictionary["schemeFields"] = {
  base: "底数",
  layout: "排列方式",
  denominator: "分母",
  maxDistance: "最大距离",
  clampLength: "距离上限",
  buckets: "桶数",
  theta: "底数 theta",
  rotaryDim: "旋转维数（0：全部）",
  slopes: "斜率（standard 或每头一个）",
  kind: "类型",
  scaleBase: "衰减基数",
  noRopeLayerInterval: "每隔几层不旋转（0：都旋转）",
  positions: "位置数",
  terms: "项",
  biasedHeads: "带偏置的头数（0：全部）",
  width: "网络宽度",
  threshold: "长度阈值",
  dim: "正弦波维数",
  kernels: "钟形曲线数",
  depth: "隐藏层数",
  distance: "距离取法",
};

export const tasks: Dictionary["tasks"] = {
  text: { name: "文本", rule: "猜下一个字符。损失表示模型有多意外，单位是[[nats|奈特]]，0 表示毫不意外。" },
  lookback: { name: "回看", rule: "答案是前面固定几位的那个符号。考察精确的相对距离。" },
  "fixed-position": { name: "定位", rule: "答案总是某个固定位置上的符号。考察绝对位置。" },
  first: { name: "首符号", rule: "答案总是这一行的第一个符号。考察能否一直看到开头。" },
  needle: { name: "大海捞针", rule: "前四分之一里藏着一个记号，此后答案始终是它。考察长程记忆。" },
  recall: {
    name: "键值回忆",
    rule: "键值成对出现；键再次出现时，答案是它的值。模型这么小，学不学得会要看运气：换个种子结果就可能不同。",
  },
  "position-modulo": { name: "位置模四", rule: "答案是位置的循环计数 0、1、2、3、0……考察计数。" },
  majority: { name: "多数", rule: "抛硬币；领先明显时，答案是目前占多数的一面。不需要位置信息。" },
  copy: { name: "复制", rule: "一串符号，一个分隔符，然后按原顺序重复这串符号。" },
  reverse: { name: "倒序", rule: "一串符号，一个分隔符，然后倒着重复这串符号。" },
};

export const glossary: Dictionary["glossary"] = {
  encoding:
    "位置编码：告诉 Transformer 每个词元在哪里的方法。注意力本身只看到一堆没有先后的词元，各种编码以不同方式把顺序告诉它。",
  nats: "奈特：意外程度的单位，即模型给实际结果的概率取倒数，再取自然对数。0.69 奈特相当于抛一次硬币，2.3 相当于十选一。",
  loss: "损失：模型对所有待预测内容的平均意外程度，越低越好。",
  attention:
    "注意力：每个词元用查询提问，所有词元用键应答。两者的乘积是分数；softmax 把一个查询的分数变成总和为 1 的权重，词元就按权重取各个值。",
  query: "查询和键：一个头由词元算出的两个向量。两者乘积越大，词元越关注那里。",
  embedding: "嵌入：词元进入模型时所用的向量。作用在这里的编码，会再加上一个代表位置的向量。",
  rotation: "旋转：向量里的数两两成对，像钟表指针那样转一个角度，角度随位置增大。向量的长度不变。",
  score: "注意力分数：查询与键有多相配，即两者的内积除以每头维数的平方根；之后由 softmax 变成权重。",
  value: "值：一个词元交出去的内容。注意力的输出是所有值的加权平均，权重由各自的键挣得。",
  key: "键：词元被找到时所凭的向量，与其他词元的查询相比较。",
  head: "头：注意力并排做好几遍，每遍各有一套查询、键和值，其中一遍就叫一个头。",
  softmax: "softmax：把分数变成权重。每个权重是 e 的“分数”次方，再除以总和，因此相加为一。",
  mask: "因果掩码：词元只看得见自己和前面的词元，看不见后面的。这样才能训练模型猜下一个。",
  trained: "训练长度 L：训练所用文本的长度。从位置 L 起，模型都没见过。",
  bias: "偏置：加到分数上的一个数，与词元是什么无关，只看它们在哪里。",
  product: "内积：两个向量的数逐个相乘再相加。方向越一致，内积越大。",
  wavelength: "波长：一列波，或一对转动的数，经过多少个位置才回到原样。",
  seed: "种子：随机数的起点。同一个种子在任何机器上都给出同样的数。",
  extrapolation: "外推：处理比训练时更长的文本。",
};
