// Prints as JSON which of the files StyLua would write otherwise.
// Arguments: the folder that has it, its options as JSON, and the files.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, given, ...files] = process.argv.slice(2);
const stylua = createRequire(`${folder}/`)("@johnnymorganz/stylua");
const options = JSON.parse(given);

function formatted(text) {
  const config = stylua.Config.new(); // each call takes its own away
  config.column_width = options.column_width;
  config.indent_type = stylua.IndentType[options.indent_type];
  config.indent_width = options.indent_width;
  return stylua.formatCode(text, config, undefined, stylua.OutputVerification.None);
}

const others = files.filter((file) => {
  const text = readFileSync(file, "utf8");
  return formatted(text) !== text;
});
console.log(JSON.stringify(others));
