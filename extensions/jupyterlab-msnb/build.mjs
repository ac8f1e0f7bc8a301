// Bundles lib/ into labextension/, offline. `jupyter labextension build` would fetch JupyterLab's core from the network; an
// installed JupyterLab brings what is needed of it, the list of shared packages. Their versions are lowered to the ranges
// of package.json, so that the result runs in every JupyterLab from 4.2 on, not only in that one's successors.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const python = process.env.PYTHON ?? "python";
const staging = execFileSync(python, ["-c", "import jupyterlab; print(jupyterlab.__path__[0] + '/staging')"]).toString().trim();
const core = JSON.parse(readFileSync(join(staging, "package.json"), "utf8"));
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
for (const group of [core.dependencies, core.resolutions])
  for (const name of Object.keys(group ?? {})) if (dependencies[name]) group[name] = dependencies[name];
rmSync("labextension", { recursive: true, force: true });
mkdirSync("lib/core", { recursive: true });
writeFileSync("lib/core/package.json", JSON.stringify(core));
const builder = join("node_modules", "@jupyterlab", "builder", "lib", "build-labextension.js");
execFileSync(process.execPath, [builder, "--core-path", resolve("lib/core"), "."], { stdio: "inherit" });
copyFileSync("install.json", "labextension/install.json");
// What this was built from, for the test that finds a forgotten build.
const hash = createHash("sha256");
for (const folder of ["src", "style"]) for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
writeFileSync("labextension/sources.sha256", hash.digest("hex") + "\n");
