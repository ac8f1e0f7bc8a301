// Bundles the src/ of every view below this folder into its widget.js, one ES module that asks for nothing else, and
// makes src/wake.js the text of an attribute. `npm run build` writes them; with `--check` it only says which of the
// committed ones are not what it would write.
//
// Every widget of a running notebook brings its whole module along. One whose code is larger than LIMIT is stored
// packed, and unpacks itself when it is imported; CODE_LIMIT is how large its code may be then.
import { build, transform } from "esbuild";
import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

const HERE = import.meta.dirname;
const LIMIT = 100_000; // bytes; every saved notebook carries the modules of the views that it shows
const CODE_LIMIT = 160_000;
const WAKE_LIMIT = 1_200; // every saved view carries it
const OPTIONS = { target: "es2022", charset: "utf8", legalComments: "none", minify: true };

const styles = {
  name: "style sheets are text",
  setup: (made) =>
    made.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { ...OPTIONS, loader: "css" });
      return { contents: code, loader: "text" };
    }),
};

const checking = process.argv.includes("--check");
const wrong = [];

const PACKED = /^const text="([^"]*)"/;

// The module that unpacks another one, and exports what that one does.
function unpacking(code, names) {
  const others = names.filter((name) => name !== "default");
  return Buffer.from(
    `const text="${gzipSync(code, { level: 9 }).toString("base64")}",` +
      "bytes=Uint8Array.from(atob(text),c=>c.charCodeAt(0))," +
      'stream=new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),' +
      'url=URL.createObjectURL(new Blob([await new Response(stream).text()],{type:"text/javascript"})),' +
      `{default:main,${others}}=await import(url);` +
      `URL.revokeObjectURL(url);export{main as default,${others}};\n`,
  );
}

// What a committed file says, whichever zlib has packed it.
function unpacked(bytes) {
  const text = bytes.toString();
  return text.replace(PACKED, (_, packed) => gunzipSync(Buffer.from(packed, "base64")).toString());
}

async function give(outfile, made, limit) {
  const name = relative(process.cwd(), outfile);
  if (made.length > limit) wrong.push(`${name} has ${made.length} bytes, more than ${limit}`);
  if (!checking) await writeFile(outfile, made);
  else if (!existsSync(outfile) || unpacked(await readFile(outfile)) !== unpacked(made))
    wrong.push(`${name} is not what its src/ makes: npm run build, and commit it`);
  console.log(`${name}: ${made.length} bytes`);
}

for (const view of readdirSync(HERE).sort()) {
  const entry = join(HERE, view, "src", "index.js");
  if (!existsSync(entry)) continue;
  const outfile = join(HERE, view, "widget.js");
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    plugins: [styles],
    write: false,
    metafile: true,
  });
  const code = Buffer.from(outputFiles[0].contents);
  if (code.length > CODE_LIMIT) wrong.push(`the code of ${view} has ${code.length} bytes, more than ${CODE_LIMIT}`);
  const [{ exports }] = Object.values(metafile.outputs);
  await give(outfile, code.length > LIMIT ? unpacking(code, exports) : code, LIMIT);
}
const wake = await transform(await readFile(join(HERE, "src", "wake.js"), "utf8"), OPTIONS);
await give(join(HERE, "display", "wake.js"), Buffer.from(wake.code), WAKE_LIMIT);
for (const sentence of wrong) console.error(sentence);
process.exitCode = wrong.length ? 1 : 0;
