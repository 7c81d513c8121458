// Runs every case of a folder in onnxruntime: NAME.onnx, NAME.json with inputs and
// expected answers, as TestOnnxruntime of package export writes them. Prints the worst
// error per model and fails when one is above 1e-5 of the span of the answers.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ort from "onnxruntime-node";

const folder = process.argv[2];
let failed = 0, count = 0;
for (const file of readdirSync(folder).filter((f) => f.endsWith(".json")).sort()) {
  const base = join(folder, file.slice(0, -".json".length));
  const want = JSON.parse(readFileSync(base + ".json", "utf8"));
  const session = await ort.InferenceSession.create(base + ".onnx", { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const feeds = {};
  for (const [name, t] of Object.entries(want.inputs)) {
    let data = t.texts;
    if (t.type === "float32") data = Float32Array.from(t.numbers, (v) => (v === null ? NaN : v));
    if (t.type === "int64") data = BigInt64Array.from(t.numbers, BigInt);
    feeds[name] = new ort.Tensor(t.type, data, t.dims);
  }
  const out = await session.run(feeds);
  let worst = 0, differ = 0;
  const numbers = out[want.numbersOf].data;
  if (numbers.length !== want.numbers.length) worst = Infinity;
  want.numbers.forEach((v, i) => {
    const d = Math.abs(numbers[i] - v) / want.span;
    worst = Math.max(worst, Number.isNaN(d) ? Infinity : d);
  });
  (want.labels ?? []).forEach((l, i) => { if (out[want.labelsOf].data[i] !== l) differ++; });
  const bad = worst > 1e-5 || differ > 0;
  failed += bad;
  count++;
  console.log(`${bad ? "FAIL" : "ok  "} ${want.name}: ${want.rows} rows, worst error ${worst.toExponential(1)}, ${differ} labels differ`);
  await session.release();
}
console.log(`${count - failed} passed, ${failed} failed`);
process.exit(failed || !count ? 1 : 0);
