// The widget's static elements: the toolbar above, the panes, and the panel below.
import { icon } from "../../src/icon.js";

const level = (n) =>
  `<button data-do="level" data-level="${n}" title="open to level ${n}" aria-label="open to level ${n}">${n}</button>`;

export const frame =
  `<div class="bar"><div class="find"><input type="search" placeholder="search" ` +
  `title="words of an operator, scope or Parameter; /regex/, op:, scope:, shape:64x128, dtype:, param:, line:, ` +
  `source:, lane:, node:" ` +
  `aria-label="search nodes" autocomplete="off" spellcheck="false"><span class="hits"></span>` +
  `<div class="results" role="listbox" hidden></div></div>` +
  `<select class="which" aria-label="stage" title="stage of the program" hidden></select>` +
  `<select class="beside" aria-label="compare with" title="another stage beside it" hidden></select>` +
  `<select class="colour" aria-label="colour by" title="colour by"></select><select class="types" ` +
  `aria-label="filter by operator type" title="show only nodes of one type"></select><span class="gap"></span>` +
  `<span class="busy" role="status"></span>` +
  `<span class="group"><button data-do="out" title="zoom out (−)" aria-label="zoom out">−</button>` +
  `<button data-do="fit" title="fit (0)">fit</button><button data-do="in" title="zoom in (+)" ` +
  `aria-label="zoom in">+</button></span>` +
  `<span class="group levels" role="group" aria-label="open scopes to a level"><button data-do="close" ` +
  `title="close every scope">collapse</button>` +
  [1, 2, 3].map(level).join("") +
  `<button data-do="open" title="open every scope">expand</button></span>` +
  `<select class="copy" aria-label="copy or save the graph" title="copy or save"><option value="" hidden>` +
  `copy</option><option value="text">as text IR</option><option value="dot">as dot</option>` +
  `<option value="svg">as SVG</option><option value="json">as JSON</option><option value="png">` +
  `save PNG</option></select>` +
  `<span class="group"><button data-do="code" title="show or hide the source" aria-label="source" ` +
  `aria-pressed="false" hidden>${icon("M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4")}</button><button data-do="panel" ` +
  `title="show or hide the panel" aria-label="panel" aria-pressed="true">${icon("M2 3h12v10H2zM10 3v10")}` +
  `</button><button data-do="full" title="full screen" aria-label="full screen">` +
  `${icon("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4")}</button></span></div>` +
  `<div class="body"><div class="panel" tabindex="-1" aria-label="details"></div></div><div class="said" ` +
  `aria-live="polite"></div>`;
