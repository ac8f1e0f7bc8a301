// Pages for users come before those for developers and translations, and words of pages before names that contain the
// query.
// A question that the page of questions answers comes first: a result with an anchor is a heading that has the query.
const DEVELOP = /^(CHANGELOG|CONTRIBUTING|SECURITY|docs\/(architecture|style|packaging|zh\/|api\/(?!missing)))/;
globalThis.Scorer = {
  score: ([document, , anchor, , score]) =>
    score - (DEVELOP.test(document) ? 4 : 0) + (anchor && document === "docs/faq" ? 20 : 0),
  objNameMatch: 20,
  objPartialMatch: 2,
  objPrio: { 0: 5, 1: 3, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
