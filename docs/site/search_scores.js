// Pages for users come before those for developers, and words of pages before names that merely contain the query.
const DEVELOP = /^(CHANGELOG|CONTRIBUTING|SECURITY|docs\/(architecture|style|packaging|api\/))/;
globalThis.Scorer = {
  score: ([document, , , , score]) => score - (DEVELOP.test(document) ? 4 : 0),
  objNameMatch: 20,
  objPartialMatch: 2,
  objPrio: { 0: 5, 1: 3, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
