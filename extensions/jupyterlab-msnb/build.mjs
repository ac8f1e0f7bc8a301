// Bundles lib/ into labextension/. `jupyter labextension build` would ask the network for JupyterLab's core; here the
// list of packages that JupyterLab shares with its extensions comes with the lock file. Their versions are lowered to
// the ranges of package.json, so that the result runs in every JupyterLab from 4.2 on, not only in its successors.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const installed = (path) => fileURLToPath(import.meta.resolve(path));
const core = JSON.parse(readFileSync(installed("@jupyterlab/core-meta/core.package.json"), "utf8"));
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
for (const group of [core.dependencies, core.resolutions])
  for (const name of Object.keys(group ?? {})) if (dependencies[name]) group[name] = dependencies[name];
rmSync("labextension", { recursive: true, force: true });
mkdirSync("lib/core", { recursive: true });
writeFileSync("lib/core/package.json", JSON.stringify(core));
const builder = installed("@jupyterlab/builder/lib/build-labextension.js");
execFileSync(process.execPath, [builder, "--core-path", resolve("lib/core"), "."], { stdio: "inherit" });
copyFileSync("install.json", "labextension/install.json");
// What this was built from, for the test that finds a forgotten build.
const hash = createHash("sha256");
for (const folder of ["src", "style"])
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
writeFileSync("labextension/sources.sha256", hash.digest("hex") + "\n");
