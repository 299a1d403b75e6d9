// Bundles the extension and its chat view into dist/.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, minify: true, sourcemap: false, logLevel: "warning", metafile: true };

mkdirSync("dist", { recursive: true });
const built = await Promise.all([
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
writeFileSync("THIRD-PARTY-NOTICES.txt", notices(built.flatMap(({ metafile }) => Object.keys(metafile.inputs))));

/** The licences of the packages that these files are of. */
function notices(files) {
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const told = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const texts = readdirSync(folder).filter((each) => /^(licen[cs]e|notice)/i.test(each));
    if (texts.length === 0) throw new Error(`${name} comes without its licence`);
    const said = texts.map((each) => readFileSync(`${folder}/${each}`, "utf8").trim());
    return [`${name} ${version} (${license})`, ...said].join("\n\n");
  });
  return `${told.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
