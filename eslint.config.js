import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import globals from "globals";
import typescript from "typescript-eslint";

export default defineConfig(
  globalIgnores([
    ".venv*/",
    "**/lib/",
    "**/labextension/",
    "build/",
    "msnb/notebook/*/widget.js",
    "!msnb/notebook/pipeline/widget.js",
    "msnb/notebook/display/wake.js",
  ]),
  js.configs.recommended,
  {
    rules: {
      "max-len": ["error", { code: 120 }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-unused-vars": ["error", { varsIgnorePattern: "^_$" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
  { files: ["msnb/**/*.js", "docs/site/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["**/*.cjs"], languageOptions: { globals: globals.node, sourceType: "commonjs" } },
  { files: ["**/*.mjs", "tests/**/*.js", "*.js"], languageOptions: { globals: globals.node } },
  {
    files: ["**/*.ts"],
    extends: [typescript.configs.recommended],
    rules: { "@typescript-eslint/no-explicit-any": "off" }, // what a kernel answers is JSON of no type
  },
);
