// Finds nodes. All words must occur in the operator, its scope (with or without classes) or its Parameters; /.../ is a
// regular expression for these. A field is searched with op:Conv2D, scope:layer1.0 (complete names), shape:64x128 (of a
// result or Parameter, * for any number), dtype:Float16, param:weight, line:12, source:relu, lane:backward and node:7.
// Python's calls use the same language: insight/debugger/selection.py. A word that is the path of a Cell, such as fc1
// or layer1.0, selects the nodes of this Cell only. Nodes whose own name matches come first.
import { kindName } from "./colour.js";

const REGEX = /(?:^|\s)\/((?:\\.|[^/\\])+)\/(?=\s|$)/g;

/** The attribute path of a scope, as in network.layer1.0.conv; its class follows the "-". */
export const dotted = (path) =>
  path
    .split("/")
    .filter((part, i) => i || part !== "Default")
    .map((part) => part.replace(/-[^-]*$/, ""))
    .join(".");

/** The name of the Cell of a box, or of the Cell around it, as the user wrote it if that is known. */
export const written = (stage, id) => stage.where(id) || dotted(stage.path(id));

export class Search {
  constructor(stage) {
    this.stage = stage;
    this.texts = null;
  }

  prepare() {
    if (this.texts) return;
    const { stage } = this,
      paths = stage.scopes.map(() => null);
    // Names of the scope of a node: its path with and without classes, and as the user wrote it.
    this.called = (i) => (paths[stage.scopeOf[i]] ??= [stage.path(i), dotted(stage.path(i)), stage.where(i)]);
    this.params = (i) => [...stage.inputs(i)].filter((ref) => ref < 0).map((ref) => stage.params[-1 - ref]);
    this.names = (i) => [stage.op(i), ...this.called(i), ...this.params(i).map((p) => p.name)];
    // The attribute path of the Cell of each scope; "" for the network, whose title is its class.
    this.cells = stage.scopes.map(() => "");
    for (let i = 0; i < stage.n; i++) {
      const path = stage.around(stage.scopes[stage.scopeOf[i]]);
      if (dotted(stage.path(i)).endsWith(path.replace(/ \(.*\)$/, "")))
        this.cells[stage.scopeOf[i]] = path.toLowerCase();
    }
    this.texts = true;
  }

  /** Ids of the matches, null for an empty query; `problem` is the error of an invalid query.
   * type: null, ["op", name] or ["kind", name]. */
  find(query, type = null) {
    this.problem = "";
    if (!query.trim() && !type) return null;
    this.prepare();
    const { stage } = this,
      tests = [];
    if (type) {
      const fits = stage.sigs.map((s) => {
        const op = s.op.replace(/^grad/, "");
        return type[0] === "op" ? op === type[1] : kindName(op) === type[1];
      });
      tests.push((i) => fits[stage.sig[i]]);
    }
    const rest = query.replace(REGEX, (_, text) => {
      try {
        const wanted = new RegExp(text, "i");
        tests.push((i) => this.names(i).some((name) => wanted.test(name)));
      } catch {
        this.problem = `/${text}/ is no regular expression`;
      }
      return " ";
    });
    if (this.problem) return [];
    const plain = [];
    for (const word of rest.toLowerCase().split(/\s+/).filter(Boolean)) {
      const [, field, value] = word.match(/^(op|scope|shape|dtype|line|param|source|lane|node):(.+)$/) || [];
      if (field) tests.push(this[field](value));
      else plain.push(word);
    }
    const within = plain.map((word) => (i) => this.names(i).some((name) => name.toLowerCase().includes(word))),
      exact = plain.map((word, k) => this.cell(word) ?? within[k]),
      matching = (all) => Array.from({ length: stage.n }, (_, i) => i).filter((i) => all.every((test) => test(i)));
    let found = matching([...tests, ...exact]);
    if (!found.length) found = matching([...tests, ...within]);
    if (!plain.length) return found;
    const called = (i) => plain.every((word) => this.names(i).some((name) => ends(name.toLowerCase(), word)));
    const first = new Set(found.filter(called));
    return [...first, ...found.filter((i) => !first.has(i))];
  }

  // Return a test for the nodes of the Cell with this path; null if no Cell has it.
  cell(word) {
    const isIn = this.cells.map((path) => path === word || path.startsWith(`${word}.`) || path.startsWith(`${word} (`));
    return isIn.includes(true) ? (i) => isIn[this.stage.scopeOf[i]] : null;
  }
  op(value) {
    return (i) => [this.stage.op(i), this.stage.op(i).replace(/^grad/, "")].some((op) => op.toLowerCase() === value);
  }
  // Complete names: 0-Block does not match 10-Block; the class alone suffices.
  scope(value) {
    const wanted = fenced(value),
      ofClass = `-${wanted.slice(1)}`;
    return (i) =>
      this.called(i)
        .map(fenced)
        .some((name) => name.includes(wanted) || name.includes(ofClass));
  }
  shape(value) {
    const number = (size) => (size === "*" ? "\\d+" : size.replace(/\D/g, "") || "-"),
      wanted = new RegExp(`\\[${value.split(/[x×,]/).map(number).join(", ")}\\]`);
    return (i) => [...this.stage.sigOf(i).outs, ...this.weights(i)].some((type) => wanted.test(type));
  }
  weights(i) {
    return this.params(i)
      .filter((p) => p.weight)
      .map((p) => p.type);
  }
  dtype(value) {
    return (i) => this.stage.sigOf(i).outs.some((type) => type.toLowerCase().startsWith(`${value}[`));
  }
  param(value) {
    return (i) => this.params(i).some((p) => p.name.toLowerCase().includes(value));
  }
  line(value) {
    if (!/^\d+$/.test(value)) return this.source(value);
    return (i) => String(this.stage.sourceOf(i)?.[1]) === value;
  }
  lane(value) {
    return (i) => this.stage.laneOf(i) === value;
  }
  node(value) {
    return (i) => String(this.stage.ids ? this.stage.ids[i] : i) === value;
  }
  source(value) {
    const has = this.stage.srcs.map((s) => s && `${s[0]}:${s[1]} ${s[2]} ${s[3]}`.toLowerCase().includes(value));
    return (i) => has[this.stage.src[i]];
  }
}

const fenced = (path) => `/${path.toLowerCase().replaceAll(".", "/")}/`;
const ends = (name, word) => name === word || name.endsWith(`.${word}`) || name.endsWith(`/${word}`);
