// Finds nodes. Words must all occur in the operator, its scope, its parameters or its line of source;
// op:Conv2D, scope:fc1, dtype:Float16, line:12 and param:weight look in one place only.

import { kindName } from "./colour.js";

export class Search {
  constructor(stage) {
    this.stage = stage;
    this.texts = null;
  }

  prepare() {
    if (this.texts) return;
    const { stage } = this,
      paths = stage.scopes.map(() => null);
    this.path = (i) => (paths[stage.scopeOf[i]] ??= stage.path(i).toLowerCase());
    const sources = stage.srcs.map((s) => (s ? `${s[0]}:${s[1]} ${s[2]} ${s[3]}`.toLowerCase() : ""));
    this.source = (i) => sources[stage.src[i]];
    this.params = (i) => {
      const names = [];
      for (const ref of stage.inputs(i)) if (ref < 0) names.push(stage.params[-1 - ref].name.toLowerCase());
      return names.join(" ");
    };
    this.ops = stage.sigs.map((s) => s.op.toLowerCase());
    this.types = stage.sigs.map((s) => s.outs.join(" ").toLowerCase());
    this.texts = true;
  }

  // type: null, ["op", name] or ["kind", name]
  find(query, type = null, limit = Infinity) {
    const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length && !type) return null;
    this.prepare();
    const { stage } = this,
      tests = words.map((word) => {
        const [, field, value] = word.match(/^(op|scope|dtype|line|param|source):(.+)$/) || [];
        if (field === "op")
          return (i) => this.ops[stage.sig[i]].replace(/^grad/, "") === value || this.ops[stage.sig[i]] === value;
        if (field === "scope") return (i) => this.path(i).includes(value);
        if (field === "dtype") return (i) => this.types[stage.sig[i]].includes(`${value}[`);
        if (field === "line")
          return (i) => {
            const s = stage.sourceOf(i);
            return !!s && String(s[1]) === value;
          };
        if (field === "param") return (i) => this.params(i).includes(value);
        if (field === "source") return (i) => this.source(i).includes(value);
        return (i) =>
          this.ops[stage.sig[i]].includes(word) ||
          this.path(i).includes(word) ||
          this.params(i).includes(word) ||
          this.source(i).includes(word);
      });
    if (type) {
      const fits = stage.sigs.map((s) => {
        const op = s.op.replace(/^grad/, "");
        return type[0] === "op" ? op === type[1] : kindName(op) === type[1];
      });
      tests.unshift((i) => fits[stage.sig[i]]);
    }
    const found = [];
    for (let i = 0; i < stage.n && found.length < limit; i++) if (tests.every((test) => test(i))) found.push(i);
    return found;
  }
}
