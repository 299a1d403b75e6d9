// A plain language client, and a door through which the tests run code beside it.
"use strict";

const fs = require("fs");
const http = require("http");
const vscode = require("vscode");
const { LanguageClient, State } = require("vscode-languageclient/node");

// What happened since `start`, in order of time:
// `sends`: the server's edits and how they were answered; `changes`: what the client reported;
// `undone`: the texts around each undo and redo of the person's.
const log = { sends: [], changes: [], undone: [] };
const texts = new Map();
const requests = new Map();
let client;

// Starts the server over stdio for every file. `options` are the initializationOptions.
async function start({ command, args, cwd, env, options }) {
  await stop();
  for (const list of Object.values(log)) list.length = 0;
  requests.clear();
  const run = { command, args, options: { cwd, env } };
  client = new LanguageClient("lsp-agent", "lsp-agent", run, {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: options,
    middleware: { didChange: recordChange, workspace: { handleApplyEdit: recordEdit } },
  });
  await client.start();
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined && running.state !== State.Stopped) await running.stop();
}

function recordChange(event, next) {
  log.changes.push({ time: Date.now(), version: event.document.version, reason: event.reason });
  return next(event);
}

async function recordEdit(params, next) {
  const asked = Date.now();
  const answer = await next(params);
  const [change] = params.edit.documentChanges;
  const applied = answer.applied;
  log.sends.push({ asked, answered: Date.now(), label: params.label, change, applied });
  return answer;
}

// Sends a request and does not wait; `answer(number)` is `{result}` or `{error}` once there is one.
function send(number, method, params) {
  requests.set(number, null);
  client.sendRequest(method, params).then(
    (result) => requests.set(number, { result }),
    (error) => requests.set(number, { error: { message: error.message, data: error.data } }),
  );
}

function answer(number) {
  return requests.get(number);
}

function remember(document) {
  if (document.uri.scheme === "file") texts.set(document.uri.fsPath, document.getText());
}

function recordUndo({ document, reason }) {
  if (document.uri.scheme !== "file") return;
  const path = document.uri.fsPath;
  const after = document.getText();
  if (reason !== undefined) log.undone.push({ path, reason, before: texts.get(path), after });
  texts.set(path, after);
}

const AsyncFunction = (async () => {}).constructor;

// POST {token, code, argument}: the code is an async function's body; what it returns.
function serve(token) {
  const door = { vscode, log, start, stop, send, answer, client: () => client };
  const names = Object.keys(door);
  return http.createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", async () => {
      let reply;
      try {
        const call = JSON.parse(Buffer.concat(parts).toString());
        if (call.token !== token) throw new Error("wrong token");
        const run = new AsyncFunction(...names, "argument", `{ ${call.code}\n}`); // may shadow them
        const result = await run(...Object.values(door), call.argument);
        reply = { result: result === undefined ? null : result };
      } catch (error) {
        reply = { error: String((error && error.stack) || error) };
      }
      response.end(JSON.stringify(reply));
    });
  });
}

// HARNESS_DOOR names a file that gets the port; HARNESS_TOKEN must come with each call.
exports.activate = (context) => {
  vscode.workspace.textDocuments.forEach(remember);
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(remember),
    vscode.workspace.onDidChangeTextDocument(recordUndo),
  );
  const server = serve(process.env.HARNESS_TOKEN);
  server.listen(0, "127.0.0.1", () => {
    const file = process.env.HARNESS_DOOR;
    fs.writeFileSync(`${file}.new`, String(server.address().port));
    fs.renameSync(`${file}.new`, file);
  });
  context.subscriptions.push({ dispose: () => server.close() });
};

exports.deactivate = stop;
