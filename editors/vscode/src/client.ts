// The language client: one server a window, and what is said to it and heard from it.

import * as vscode from "vscode";
import type { ClientCapabilities, Middleware, StaticFeature } from "vscode-languageclient";
import { CloseAction, LanguageClient, State } from "vscode-languageclient/node";

import type { ApplyNext } from "./edits";
import { applyEdit, diagnostics, reloadDocument, saveDocument } from "./edits";
import { TurnProgress } from "./progress";
import type { AgentEvent, Question } from "./protocol";
import { SECTION, initializationOptions, serverSettings } from "./settings";

const PROTOCOL_VERSION = 1;
const STOP_MILLISECONDS = 5000;

/** What this client answers beyond LSP (docs/protocol.md, Initialize). No `sync`: each change is
 * sent as it is made, and the server's own timing beside a typist meets fewer keys in flight. */
const EXTRAS = { events: true, save: true, reload: true, ask: true, diagnostics: true };

const EXPERIMENTAL: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...(capabilities.experimental as object), agent: EXTRAS };
  },
  initialize(): void {},
  getState: () => ({ kind: "static" }),
  clear(): void {},
};

/** How the client's user decides what the server asks. */
export type Asker = (
  question: Question,
  token: vscode.CancellationToken,
) => Promise<{ optionId: string } | null>;

/** What a command of the server's does instead, where the extension has a better way to show it. */
export type CommandOverrides = Record<string, (argument: unknown) => Promise<unknown>>;

export interface Hooks {
  event(event: AgentEvent): void;
  ask: Asker;
  commands: CommandOverrides;
  /** Whether a turn is shown by something else than a notification. */
  isWatched(): boolean;
  /** The server runs, perhaps again: the client starts one anew that ended by itself. */
  started(): void;
  stopped(): void;
}

/** A running server. Raises Error from `start` if it is not one of ours. */
export class Client {
  private constructor(private readonly client: LanguageClient) {}

  static async start(
    program: string,
    hooks: Hooks,
    log: vscode.LogOutputChannel,
  ): Promise<Client> {
    const server = { command: program, args: ["serve"] };
    const turns = new TurnProgress(
      () => hooks.isWatched(),
      (token) => void client.sendNotification("window/workDoneProgress/cancel", { token }),
    );
    const client: LanguageClient = new LanguageClient(SECTION, "Agent", server, {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: initializationOptions(),
      outputChannel: log,
      progressOnInitialization: false,
      middleware: middleware(hooks, turns),
    });
    client.registerFeature(EXPERIMENTAL);
    client.onNotification("agent/event", (event: AgentEvent) => hooks.event(event));
    client.onRequest("agent/ask", hooks.ask);
    client.onRequest("agent/saveDocument", saveDocument);
    client.onRequest("agent/reloadDocument", reloadDocument);
    client.onRequest("agent/diagnostics", diagnostics);
    let ran = false;
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        ran = true;
        hooks.started();
      } else if (newState === State.Stopped && ran) {
        turns.endAll();
        hooks.stopped();
      }
    });
    const usual = client.createDefaultErrorHandler();
    client.clientOptions.errorHandler = {
      error: (error, message, count) => usual.error(error, message, count),
      // One that never ran does no better a moment later.
      closed: () =>
        ran ? usual.closed() : { action: CloseAction.DoNotRestart, handled: true },
    };
    await client.start().catch((error: Error) => {
      log.error(error);
      throw new Error("The agent's server ended while it was starting; its log says more.");
    });
    const version = client.initializeResult?.capabilities.experimental?.agent?.version as unknown;
    if (version !== PROTOCOL_VERSION) {
      await client.stop();
      throw new Error(`${program} is no server that this version of the extension can talk to.`);
    }
    return new Client(client);
  }

  get isRunning(): boolean {
    return this.client.state === State.Running;
  }

  /** A request `agent/<name>`. */
  async request<T>(name: string, params: object = {}): Promise<T> {
    return this.client.sendRequest(`agent/${name}`, params);
  }

  /** The command `lspAgent.<name>`, which some methods answer otherwise. */
  async command<T>(name: string, params: object): Promise<T> {
    const request = { command: `${SECTION}.${name}`, arguments: [params] };
    return this.client.sendRequest<T>("workspace/executeCommand", request);
  }

  configurationChanged(): void {
    void this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  async stop(): Promise<void> {
    if (this.client.state === State.Starting) await this.client.start(); // nothing less is stopped
    if (this.client.state === State.Running) await this.client.stop(STOP_MILLISECONDS);
  }
}

function middleware(hooks: Hooks, turns: TurnProgress): Middleware {
  return {
    async executeCommand(command, args, next) {
      const override = hooks.commands[command];
      try {
        return await (override ? override(args[0]) : next(command, args));
      } catch (error) {
        void vscode.window.showErrorMessage((error as Error).message);
        return undefined;
      }
    },
    handleWorkDoneProgress(token, params, next) {
      turns.take(token, params);
      if (params.kind === "end") next(token, params); // the client forgets its own, never shown
    },
    workspace: {
      handleApplyEdit: (params, next) => applyEdit(params, next as ApplyNext),
      configuration: (params) =>
        params.items.map((item) =>
          item.section === SECTION
            ? serverSettings("workspace", item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined)
            : null,
        ),
    },
  };
}
