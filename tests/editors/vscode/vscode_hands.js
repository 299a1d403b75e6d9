// A person's hands at files in VS Code, and every text that each was, for the oracle of provenance.
// Evaluated once, beside the extension.
const person = { shown: new Map(), deletes: "deleteRight" };

const found = (path) => vscode.workspace.textDocuments.find((each) => each.uri.fsPath === path);
const run = (...command) => vscode.commands.executeCommand(...command);

vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
  const texts = person.shown.get(document.uri.fsPath);
  if (contentChanges.length > 0) texts?.push([document.getText(), document.isDirty]);
});

async function until(isSo, what) {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`not so within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

// In front, with the focus: keys and commands go to it.
async function focused(path) {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.fsPath === path) return active;
  return vscode.window.showTextDocument(found(path), { preview: false });
}

// As a person does: what an extension opens stays so for minutes.
person.open = async ({ path }) => {
  await run("vscode.open", vscode.Uri.file(path), { preview: false });
  await until(() => vscode.window.activeTextEditor?.document.uri.fsPath === path, "it is shown");
  const document = found(path);
  person.shown.set(path, [[document.getText(), document.isDirty]]);
};

person.close = async ({ path }) => {
  await focused(path);
  await run("workbench.action.revertAndCloseActiveEditor");
  await until(() => found(path) === undefined, `${path} is closed`);
};

// In place of what stands in the range: as typed by keys, or by one edit where keys would be
// several steps of undo.
person.change = async ({ path, before, range: [start, end], text, isWord }) => {
  const editor = await focused(path);
  const { document } = editor;
  if (document.getText() !== before) return false;
  const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
  const texts = person.shown.get(path);
  const mark = texts.length;
  if (isWord) {
    editor.selection = new vscode.Selection(range.start, range.end);
    // The same key twice is one step of undo.
    if (text === "") person.deletes = person.deletes === "deleteLeft" ? "deleteRight" : "deleteLeft";
    await (text === "" ? run(person.deletes) : run("type", { text }));
  } else if (!(await editor.edit((edit) => edit.replace(range, text)))) {
    return false;
  }
  texts.splice(mark, texts.length, [document.getText(), document.isDirty]); // not letter by letter
  return true;
};

person.undo = async ({ path, before, redo }) => {
  const { document } = await focused(path);
  if (document.getText() !== before) return false;
  await run(redo ? "redo" : "undo");
  return true;
};

person.save = async ({ path }) => found(path).save();

// It reads a file again by itself, where nothing is unsaved.
person.reload = async ({ path, text }) => until(() => found(path).getText() === text, "read again");

person.take = async ({ path }) => {
  const texts = person.shown.get(path);
  person.shown.set(path, []);
  return texts;
};

person.isDirty = async ({ path }) => found(path).isDirty;

// A request goes behind the changes that the client has still to tell of.
person.flush = async () => run("lspAgent.sessions", {});

globalThis.person = person;
