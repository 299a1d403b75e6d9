// Bundles the extension and its chat view into dist/.
import { copyFileSync, mkdirSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, minify: true, sourcemap: false, logLevel: "warning" };

mkdirSync("dist", { recursive: true });
await Promise.all([
  build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
  }),
  build({
    ...common,
    entryPoints: { chat: "src/webview/main.ts" },
    outdir: "dist",
    platform: "browser",
    target: "es2022",
    format: "iife",
    loader: { ".ttf": "file" },
    assetNames: "[name]",
  }),
]);
for (const name of ["LICENSE", "CHANGELOG.md"]) copyFileSync(`../../${name}`, name);
