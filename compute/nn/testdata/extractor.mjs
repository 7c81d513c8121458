// Makes extractor.json: what onnxruntime-node makes of extractor.onnx, for drawn images.
import ort from "onnxruntime-node";
import { writeFileSync } from "node:fs";

const here = new URL(".", import.meta.url).pathname;
const shape = [3, 3, 12, 10];
const input = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => ((i * 7919) % 1009) / 1008);
const session = await ort.InferenceSession.create(here + "extractor.onnx");
const out = await session.run({ image: new ort.Tensor("float32", input, shape) });
writeFileSync(here + "extractor.json", JSON.stringify({ shape, input: Array.from(input), features: Array.from(out.features.data) }));
