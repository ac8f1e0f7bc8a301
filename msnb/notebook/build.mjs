// Bundles the src/ of every view below this folder into its widget.js, one ES module that asks for nothing else, and
// makes src/wake.js the text of an attribute. `npm run build` writes them; with `--check` it only says which of the
// committed ones are not what it would write.
import { build, transform } from "esbuild";
import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

const HERE = import.meta.dirname;
const LIMIT = 120_000; // bytes; every saved notebook carries the modules of the views that it shows
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

async function give(outfile, made, limit) {
  const name = relative(process.cwd(), outfile);
  if (made.length > limit) wrong.push(`${name} has ${made.length} bytes, more than ${limit}`);
  if (!checking) await writeFile(outfile, made);
  else if (!existsSync(outfile) || !(await readFile(outfile)).equals(made))
    wrong.push(`${name} is not what its src/ makes: npm run build, and commit it`);
  console.log(`${name}: ${made.length} bytes`);
}

for (const view of readdirSync(HERE).sort()) {
  const entry = join(HERE, view, "src", "index.js");
  if (!existsSync(entry)) continue;
  const outfile = join(HERE, view, "widget.js");
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    plugins: [styles],
    write: false,
  });
  await give(outfile, outputFiles[0].contents, LIMIT);
}
const wake = await transform(await readFile(join(HERE, "src", "wake.js"), "utf8"), OPTIONS);
await give(join(HERE, "wake.js"), Buffer.from(wake.code), WAKE_LIMIT);
for (const sentence of wrong) console.error(sentence);
process.exitCode = wrong.length ? 1 : 0;
