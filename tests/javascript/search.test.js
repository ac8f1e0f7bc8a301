// What the search box finds, in the train step of a small residual network.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fromBase64 } from "../../msnb/notebook/src/bytes.js";
import { decode } from "../../msnb/notebook/graph/src/payload.js";
import { dotted, Search } from "../../msnb/notebook/graph/src/search.js";

const MADE = JSON.parse(readFileSync(process.env.MSNB_PAYLOADS, "utf8"));
const [stage] = (await decode(fromBase64(MADE.resnet.payload))).stages;
const search = new Search(stage),
  all = Array.from({ length: stage.n }, (_, i) => i);
const found = (query, type) => search.find(query, type).map((i) => `${dotted(stage.path(i))} ${stage.op(i)}`);
const BODY = "network._backbone";

test("a path of attributes leads to the node, exact names first", () => {
  assert.deepEqual(found("layer2.1.conv2"), [`${BODY}.layer2.1.conv2 Conv2D`]);
  assert.deepEqual(found("layer2/1-Residual/conv2"), []);
  const relu = found("relu");
  assert.ok(relu.every((name) => /relu/i.test(name)) && relu.length === 8);
  // the third is called so, the others hold it in their names
  assert.ok(found("conv2d").length > found("op:conv2d").length - 1 && found("conv2d")[0].endsWith("Conv2D"));
  assert.equal(found("1.conv2 layer2")[0], `${BODY}.layer2.1.conv2 Conv2D`);
});

test("a word that is the path of a Cell selects this Cell", async () => {
  const paths = (query, of = found) => [...new Set(of(query).map((name) => name.split(" ")[0]))].sort();
  assert.deepEqual(paths("stem"), [`${BODY}.stem`]);
  assert.deepEqual(paths("head"), [`${BODY}.head`]);
  assert.ok(paths("layer1.0").length > 2 && paths("layer1.0").every((path) => path.includes(".layer1.0")));
  assert.deepEqual(found("matmul head"), [`${BODY}.head MatMul`]);
  assert.ok(found("resnet").length > 4); // the class of the network is no path
  const lenet = (await decode(fromBase64(MADE.lenet.payload))).stages.find((one) => one.name === "differentiated"),
    inLenet = (query) => new Search(lenet).find(query).map((i) => `${dotted(lenet.path(i))} ${lenet.op(i)}`);
  assert.deepEqual(paths("fc1", inLenet), [`${BODY}.fc1`]);
  assert.ok(inLenet("relu").length > 4 && inLenet("relu").every((name) => name.includes(".relu")));
  assert.deepEqual(inLenet("relu maxpool"), []);
  assert.ok(inLenet("fc1 momentum").length > 0); // no node of the Cell: a Parameter's name
});

test("what only stands in the line of source is found by line and source alone", () => {
  const inConv = found("conv1");
  assert.ok(inConv.length === 4 && inConv.every((name) => name.includes("conv1")));
  assert.ok(found("source:self.conv1").some((name) => name.endsWith("ReLU")));
  const [at] = search.find("layer1.0.conv1"),
    line = stage.sourceOf(at)[1];
  assert.ok(found(`line:${line}`).some((name) => name.endsWith("ReLU")));
  assert.equal(found("line:stages.py").length, all.filter((i) => stage.sourceOf(i)).length);
});

test("a scope is meant by its whole name", () => {
  assert.equal(found("scope:layer1.0").length, found("scope:layer1/0").length);
  assert.equal(found("scope:layer1-SequentialCell/0-Residual").length, found("scope:layer1.0").length);
  assert.ok(
    found("scope:layer1.0").length > 0 && found("scope:layer").length === 0 && found("scope:ayer1").length === 0,
  );
  assert.ok(found("scope:residual").length === 4 * found("scope:layer1.0").length);
});

test("a scope of one number is not found in that of another", async () => {
  const [deep] = (await decode(fromBase64(MADE.deep.payload))).stages,
    names = new Set(new Search(deep).find("scope:fc1").map((i) => dotted(deep.path(i)).match(/fc\d+/)[0]));
  assert.deepEqual([...names], ["fc1"]);
  assert.ok(new Search(deep).find("fc1").length > new Search(deep).find("scope:fc1").length); // fc10, fc11, ...
});

test("a shape is that of a result or of a Parameter", () => {
  assert.deepEqual(found("shape:10x4"), [`${BODY}.head MatMul`]);
  assert.deepEqual(found("shape:2x10 op:matmul"), [`${BODY}.head MatMul`]);
  assert.deepEqual(found("shape:2×* op:matmul"), [`${BODY}.head MatMul`]);
  assert.deepEqual(found("shape:2x1 op:matmul"), []);
  assert.deepEqual(found("shape:x"), []);
});

test("between slashes stands a regular expression", () => {
  assert.deepEqual(found("/layer[12]\\.0\\.conv2$/"), [
    `${BODY}.layer1.0.conv2 Conv2D`,
    `${BODY}.layer2.0.conv2 Conv2D`,
  ]);
  assert.deepEqual(found("op:conv2d /layer2/ /\\.1\\.conv1/"), [`${BODY}.layer2.1.conv1 Conv2D`]);
  assert.deepEqual(found("/(/"), []);
  assert.equal(search.problem, "/(/ is no regular expression");
  assert.equal(search.find("  "), null);
});

test("words, fields and a type narrow each other", () => {
  assert.equal(found("layer2", ["op", "Conv2D"]).length, 4);
  assert.equal(found("dtype:float32 param:layer2.0.conv1.weight")[0], `${BODY}.layer2.0.conv1 Conv2D`);
  assert.equal(found("dtype:float16").length, 0);
});
