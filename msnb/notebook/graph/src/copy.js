// Convert the graph: text IR and DOT as msnb.ir prints them, SVG and PNG of the visible part, JSON of the columns.
import { formatLocation } from "../../src/location.js";
import { pictureHtml, markers } from "./draw.js";
import { CONTROL, ROOT, LANE } from "./constants.js";

const typed = (kind) => {
  const at = kind.indexOf("[");
  return `Tensor[${kind.slice(0, at)}]${kind.slice(at)}`;
};
const slotOf = (kind) => {
  const at = kind.lastIndexOf("@");
  return at < 0 ? [kind, ""] : [kind.slice(0, at), `[${kind.slice(at + 1)}]`];
};

export function asText(stage) {
  const weights = stage.params.filter((p) => p.weight).length,
    counts = {};
  if (stage.ids) throw new Error("this saved copy leaves repeats out; run the cell and copy then");
  for (let i = 0; i < stage.n; i++) {
    const lane = stage.laneOf(i);
    counts[lane] = (counts[lane] || 0) + 1;
  }
  const head = [
    `inputs: ${stage.params.length - weights}`,
    `parameters: ${weights}`,
    ...["forward", "backward", "update"].filter((l) => counts[l]).map((l) => `${l}: ${counts[l]}`),
  ];
  const name = (p) => (stage.params[p].weight ? `%para${p}_${stage.params[p].name}` : `%${stage.params[p].name}`),
    wide = Math.max(0, ...stage.params.map((_, p) => name(p).length));
  const flat = stage.scopes.some((s) => s.kind === CONTROL)
    ? ["# loops and branches are listed flat here; msnb.ir.text prints them as functions"]
    : [];
  const lines = [
    ...flat,
    `# FuncGraph ${stage.graph}   ${head.join(", ")}`,
    `graph @${stage.graph.replace(/[^\p{L}\p{N}._]/gu, "_")}(`,
  ];
  stage.params.forEach((p, i) =>
    lines.push(
      `  ${name(i).padEnd(wide)} : ${p.weight ? `Ref[${typed(p.type)}]` : typed(p.type)}${
        p.weight ? `  # Parameter${p.grad ? "" : ", no gradient"}` : ""
      }`,
    ),
  );
  lines.push(") {");
  for (let i = 0; i < stage.n; i++) {
    const sig = stage.sigOf(i),
      refs = stage.inputs(i),
      source = stage.sourceOf(i),
      types = [];
    let at = 0;
    const uses = sig.ins.map((kind) => {
      if (kind.startsWith("=")) return kind.slice(1);
      const [type, slot] = slotOf(kind),
        ref = refs[at++];
      types.push(typed(type));
      return ref < 0 ? name(-1 - ref) : `%${ref}${slot}`;
    });
    const attrs = sig.attrs.length ? ` {${sig.attrs.map(([k, v]) => `${k}: ${v}`).join(", ")}}` : "",
      outs = sig.outs.map(typed).join(", "),
      path = stage.path(i).replace(/ \(\d+\)(?=\/|$)/g, "");
    lines.push(
      `  %${i}([CNode]) = ${sig.op}(${uses.join(", ")})${attrs} : (${types.join(", ")}) ->` +
        ` ${sig.outs.length === 1 ? outs : `(${outs})`}${path ? `  # ${path}` : ""}${
          source ? `  # ${formatLocation(source)}` : ""
        }`,
    );
  }
  const result = ([ref, slot]) =>
    typeof slot === "string" ? slot : ref < 0 ? name(-1 - ref) : `%${ref}${slot === undefined ? "" : `[${slot}]`}`;
  lines.push(`  return(${stage.outputs.map(result).join(", ")})`, "}");
  return lines.join("\n") + "\n";
}

const SHADES = { forward: "#dbe9f6", backward: "#f7dfd4", update: "#dff0de" };
const quote = (text) => `"${text.replaceAll('"', '\\"')}"`;
export function asDot(stage) {
  const lines = [
    `digraph ${quote(stage.graph)} {`,
    '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];',
  ];
  stage.params.forEach((p, i) =>
    lines.push(
      `  p${i} [shape=ellipse, fillcolor="${p.weight ? "#efe6f7" : "#eeeeee"}", label=${quote(
        `${p.name}\\n${p.type}`,
      )}];`,
    ),
  );
  const cluster = (s, depth) => {
    const pad = "  ".repeat(depth),
      named = s.kind !== ROOT && s.kind !== LANE;
    if (named) lines.push(`${pad}subgraph cluster_${s.i} {`, `${pad}  label=${quote(s.name)}; color="#b8c2cf";`);
    for (const id of s.children) {
      if (stage.isScope(id)) cluster(stage.scope(id), depth + 1);
      else
        lines.push(
          `${pad}  n${id} [fillcolor="${SHADES[stage.laneOf(id)]}", label=${quote(
            `${stage.op(id)}\\n${stage.sigOf(id).outs[0] || ""}`,
          )}];`,
        );
    }
    if (named) lines.push(`${pad}}`);
  };
  cluster(stage.scopes[0], 0);
  for (let i = 0; i < stage.n; i++)
    for (const ref of stage.inputs(i)) lines.push(`  ${ref < 0 ? `p${-1 - ref}` : `n${ref}`} -> n${i};`);
  return lines.join("\n") + "\n}\n";
}

export function asJson(stage) {
  const nodes = Array.from({ length: stage.n }, (_, i) => {
    const { op, ins, outs, attrs, flops, bytes } = stage.sigOf(i),
      source = stage.sourceOf(i);
    return {
      id: i,
      op,
      scope: stage.path(i),
      direction: stage.laneOf(i),
      inputs: [...stage.inputs(i)].map((r) => (r < 0 ? stage.params[-1 - r].name : r)),
      taken: ins,
      results: outs,
      attrs: Object.fromEntries(attrs),
      flops,
      bytes,
      ...(source ? { source: formatLocation(source) } : {}),
    };
  });
  return JSON.stringify(
    { graph: stage.graph, stage: stage.name, parameters: stage.params, nodes, outputs: stage.outputs },
    null,
    1,
  );
}

const MOST = 4000;
export function asSvg(pane, colours) {
  const { scene, stage, layout } = pane;
  if (scene.boxes.length > MOST)
    throw new Error(`${scene.boxes.length} boxes are too many for a picture; close some scopes first`);
  const paint = pane.app.paint(stage),
    w = Math.ceil(scene.w),
    h = Math.ceil(scene.h);
  const body = pictureHtml(stage, layout, paint, scene, scene.boxes, scene.edges.entries(), 1, "tip");
  const css =
    `text{font-size:11px;fill:${colours.ink}}.sub{font-size:9.5px;fill:${colours.soft}}` +
    `.head{font-weight:600}.lane{font-size:13px;font-weight:700}.e{fill:none;stroke:${colours.edge};` +
    `stroke-width:1.1}.tip{fill:${colours.edge}}.top text{paint-order:stroke;stroke:${colours.bg};` +
    `stroke-width:3px}.open>rect{fill:${colours.scope};fill-opacity:.05;stroke:${colours.line}}.btn{display:none}`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" ` +
    `font-family="system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"><style>${css}</style><defs>` +
    `${markers("tip")}</defs><rect width="${w}" ` +
    `height="${h}" fill="${colours.bg}"/>${body}</svg>`
  );
}

export function asPng(svg) {
  return new Promise((done, fail) => {
    const image = new Image(),
      url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.onload = () => {
      const scale = Math.min(2, 16000 / image.width, 16000 / image.height),
        c = document.createElement("canvas");
      c.width = image.width * scale;
      c.height = image.height * scale;
      c.getContext("2d").drawImage(image, 0, 0, c.width, c.height);
      URL.revokeObjectURL(url);
      c.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is too large"))));
    };
    image.onerror = () => fail(new Error("the picture could not be drawn"));
    image.src = url;
  });
}

export async function toClipboard(text, root) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    /* not allowed in this frame: the old way */
  }
  const box = document.createElement("textarea");
  box.value = text;
  box.style.cssText = "position:fixed;opacity:0";
  root.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
}
export function download(blob, name) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 5000);
}
