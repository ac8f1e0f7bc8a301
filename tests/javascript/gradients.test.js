// Slices and axes of the gradient view.
import assert from "node:assert/strict";
import test from "node:test";
import { axis, path } from "../../msnb/notebook/gradients/src/chart.js";
import { slice } from "../../msnb/notebook/gradients/src/slice.js";
import { number, formatNumber } from "../../msnb/notebook/gradients/src/format.js";
import { escape } from "../../msnb/notebook/src/escape.js";

const VALUES = Float32Array.from({ length: 24 }, (_, i) => i);
const cut = (text) => slice(VALUES, [2, 3, 4], text);

test("a slice is written as in numpy", () => {
  assert.deepEqual([...cut("0, 1, :").values], [4, 5, 6, 7]);
  assert.deepEqual([...cut("-1, ..., ::2").values], [12, 14, 16, 18, 20, 22]);
  assert.deepEqual(cut("1:, 2").shape, [1, 4]);
  assert.deepEqual(cut("").shape, [2, 3, 4]);
  assert.deepEqual([...cut(":, -1, -2:").values], [10, 11, 22, 23]);
});

test("a slice that is none says why", () => {
  assert.match(cut("2").problem, /Index 2 is out of range for axis 0, which has 2/);
  assert.match(cut("0, 0, 0, 0").problem, /3 axes, but the slice names 4/);
  assert.match(cut("::-1").problem, /step of '::-1' should be positive/);
  assert.match(cut("a").problem, /'a' is no index/);
  assert.match(cut("5:").problem, /empty/);
});

test("an axis spans its values, and a logarithmic one puts zero at the foot", () => {
  const linear = axis([0, 10, null, NaN], false, 100);
  assert.ok(linear.place(10) < linear.place(0) && linear.place(10) > 0 && linear.place(0) < 100);
  const logarithmic = axis([1e-4, 0, 1], true, 100);
  assert.equal(logarithmic.place(0), 100);
  assert.ok(Math.abs(logarithmic.place(1e-2) - 50) < 1e-6);
  assert.ok(logarithmic.ticks.length > 1);
  assert.equal(axis([NaN, null], false, 100), null);
});

test("a curve has a gap where nothing is known", () => {
  const x = (i) => i;
  assert.equal(path([1, null, 3, 4], x, x), "M0.0 1.0M2.0 3.0L3.0 4.0");
});

test("numbers that JSON has no word for come back, and are shown", () => {
  assert.deepEqual(["inf", "-inf", "nan", 2, null].map(number), [Infinity, -Infinity, NaN, 2, null]);
  assert.deepEqual(
    [Infinity, NaN, 0, 12345, -0.5].map((v) => formatNumber(v)),
    ["∞", "NaN", "0", "1.2e4", "−0.5"],
  );
  assert.equal(formatNumber(0.25, "zeros"), "25 %");
});

test("names of a network are text, not HTML", () => {
  assert.equal(escape(`<b a="1">'&`), "&lt;b a=&quot;1&quot;&gt;&#39;&amp;");
});
