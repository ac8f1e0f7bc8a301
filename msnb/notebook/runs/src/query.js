// The filter language: words, /patterns/, `lr>0.01`, `optimizer=adam`, `is:starred`, each with a minus to negate it;
// all of them have to match.
const TERM = /-?(?:[^\s"/]|(?<=\S)\/)*"[^"]*"|-?\/(?:[^/\\]|\\.)*\/|\S+/g;
const COMPARED = /^([^<>=!~]+?)(<=|>=|!=|=|<|>)(.*)$/;
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};
const IS = {
  starred: (store, i) => store.star[i],
  chosen: (store, i) => store.chosen.includes(i),
  noted: (store, i) => Boolean(store.notes[i]),
  hidden: (store, i) => store.hidden[i],
};

// Select a column by its name, by the last segment of its name, or by a prefix.
function meant(store, name) {
  const wanted = name.toLowerCase(),
    of = (fits) => store.columns.filter((column) => fits(column.name.toLowerCase()));
  for (const fits of [
    (n) => n === wanted,
    (n) => n.split(".").at(-1) === wanted || n.split("/").at(-1) === wanted,
    (n) => n.startsWith(wanted),
  ]) {
    const [found] = of(fits);
    if (found) return found;
  }
  return null;
}

function near(store, name) {
  const alike = (a, b) => [...a].filter((letter) => b.includes(letter)).length / Math.max(a.length, b.length, 1),
    best = store.columns
      .map((column) => [alike(name.toLowerCase(), column.name.toLowerCase()), column.name])
      .sort((a, b) => b[0] - a[0])[0];
  return best && best[0] > 0.5 ? `; did you mean ${best[1]}?` : "";
}

function compared(store, [, name, sign, text]) {
  const column = meant(store, name);
  if (!column) throw new Error(`there is no column ${name}${near(store, name)}`);
  const value = text.replace(/^"|"$/g, "");
  if (value === "" && sign !== "=" && sign !== "!=") throw new Error(`${name}${sign} what?`);
  if (column.kind === "words") {
    const test = COMPARE[sign],
      lower = value.toLowerCase();
    if (sign !== "=" && sign !== "!=") throw new Error(`${column.name} is no number`);
    return (i) => test(column.text(i).toLowerCase(), lower);
  }
  if (value === "") return (i) => Number.isNaN(column.values[i]) === (sign === "="); // lr= : those without one
  const wanted = Number(value.replace("−", "-"));
  if (Number.isNaN(wanted)) throw new Error(`${value} is no number`);
  return (i) => COMPARE[sign](column.values[i], wanted);
}

function found(store, term) {
  if (term.startsWith("/") && term.endsWith("/") && term.length > 2) {
    const pattern = new RegExp(term.slice(1, -1), "i");
    return (i) => pattern.test(store.words(i));
  }
  const is = term.match(/^is:(\w+)$/);
  if (is) {
    const test = IS[is[1]];
    if (!test) throw new Error(`is: takes ${Object.keys(IS).join(", ")}`);
    return (i) => test(store, i);
  }
  const parts = term.match(COMPARED);
  if (parts) return compared(store, parts);
  const word = term.replace(/"/g, "").toLowerCase();
  return (i) => store.words(i).includes(word);
}

// {test: i => bool, problem: null or a sentence, hidden: true if the query asks for hidden runs}
export function query(store, text) {
  const tests = [];
  let problem = null;
  for (const term of text.match(TERM) ?? []) {
    const not = term.length > 1 && term.startsWith("-");
    try {
      const test = found(store, not ? term.slice(1) : term);
      tests.push(not ? (i) => !test(i) : test);
    } catch (error) {
      problem ??= error.message;
    }
  }
  return { test: (i) => tests.every((test) => test(i)), problem, hidden: /(^|\s)is:hidden(\s|$)/.test(text) };
}
