// SPDX-License-Identifier: MIT
// Writes small ONNX models: the fields of onnx.proto (github.com/onnx/onnx, numbers as published there) that a graph of
// operators on given shapes needs.

import protobuf from "protobufjs/light.js";

const kFloat = 1;
const kInt64 = 7;
const kOpset = 17;
const kIrVersion = 8;
const kAttribute = { FLOAT: 1, INT: 2, INTS: 7 };

const field = (type: string, id: number, rule?: "repeated") => ({ type, id, ...(rule ? { rule } : {}) });

const root = protobuf.Root.fromJSON({
  nested: {
    ModelProto: {
      fields: {
        irVersion: field("int64", 1),
        graph: field("GraphProto", 7),
        opsetImport: field("OperatorSetIdProto", 8, "repeated"),
      },
    },
    OperatorSetIdProto: { fields: { domain: field("string", 1), version: field("int64", 2) } },
    GraphProto: {
      fields: {
        node: field("NodeProto", 1, "repeated"),
        name: field("string", 2),
        initializer: field("TensorProto", 5, "repeated"),
        input: field("ValueInfoProto", 11, "repeated"),
        output: field("ValueInfoProto", 12, "repeated"),
      },
    },
    NodeProto: {
      fields: {
        input: field("string", 1, "repeated"),
        output: field("string", 2, "repeated"),
        name: field("string", 3),
        opType: field("string", 4),
        attribute: field("AttributeProto", 5, "repeated"),
        domain: field("string", 7),
      },
    },
    AttributeProto: {
      fields: {
        name: field("string", 1),
        f: field("float", 2),
        i: field("int64", 3),
        ints: field("int64", 8, "repeated"),
        type: field("int32", 20),
      },
    },
    TensorProto: {
      fields: {
        dims: field("int64", 1, "repeated"),
        dataType: field("int32", 2),
        name: field("string", 8),
        rawData: field("bytes", 9),
      },
    },
    ValueInfoProto: { fields: { name: field("string", 1), type: field("TypeProto", 2) } },
    TypeProto: { fields: { tensorType: field("TypeProtoTensor", 1) } },
    TypeProtoTensor: { fields: { elemType: field("int32", 1), shape: field("TensorShapeProto", 2) } },
    TensorShapeProto: { fields: { dim: field("Dimension", 1, "repeated") } },
    Dimension: { fields: { dimValue: field("int64", 1) } },
  },
});

export type Attribute = number | number[] | { float: number };

export interface Node {
  op: string;
  inputs: string[];
  output: string;
  /** of onnxruntime's own operators; default: ONNX's */ domain?: "com.microsoft";
  attributes?: Record<string, Attribute>;
}

export interface Graph {
  inputs: Record<string, number[]>;
  outputs: Record<string, number[]>;
  nodes: Node[];
  constants?: Record<string, { data: Float32Array | BigInt64Array; shape: number[] }>;
}

function attributeOf(name: string, value: Attribute): object {
  if (Array.isArray(value)) return { name, type: kAttribute.INTS, ints: value };
  if (typeof value === "number") return { name, type: kAttribute.INT, i: value };
  return { name, type: kAttribute.FLOAT, f: value.float };
}

function valueInfo([name, shape]: [string, number[]]): object {
  const dims = { dim: shape.map((dimValue) => ({ dimValue })) };
  return { name, type: { tensorType: { elemType: kFloat, shape: dims } } };
}

/** The bytes of a model with float inputs and outputs. */
export function writeModel({ inputs, outputs, nodes, constants = {} }: Graph): Uint8Array {
  const model = root.lookupType("ModelProto");
  return model
    .encode(
      model.fromObject({
        irVersion: kIrVersion,
        opsetImport: [
          { domain: "", version: kOpset },
          { domain: "com.microsoft", version: 1 },
        ],
        graph: {
          name: "bench",
          input: Object.entries(inputs).map(valueInfo),
          output: Object.entries(outputs).map(valueInfo),
          node: nodes.map(({ op, inputs: names, output, domain = "", attributes = {} }, index) => ({
            name: `node${index}`,
            opType: op,
            domain,
            input: names,
            output: [output],
            attribute: Object.entries(attributes).map(([name, value]) => attributeOf(name, value)),
          })),
          initializer: Object.entries(constants).map(([name, { data, shape }]) => ({
            name,
            dims: shape,
            dataType: data instanceof Float32Array ? kFloat : kInt64,
            rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
          })),
        },
      }),
    )
    .finish();
}
