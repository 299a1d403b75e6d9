// The language client: one server a window, and what is said to it and heard from it.

import * as vscode from "vscode";
import type {
  ClientCapabilities,
  MessageSignature,
  Middleware,
  StaticFeature,
} from "vscode-languageclient";
import { CloseAction, LanguageClient, State } from "vscode-languageclient/node";

import { withoutKeys } from "./connect/keys";
import type { ApplyNext } from "./edits";
import { applyEdit, diagnostics, reloadDocument, saveDocument } from "./edits";
import { tellError } from "./notices";
import { TurnProgress } from "./progress";
import type { AgentEvent, Edit, Question } from "./protocol";
import { SECTION, serverSettings } from "./settings";
import { arrived } from "./shown";

const PROTOCOL_VERSION = 1;
const START_MILLISECONDS = 30_000;
const STOP_MILLISECONDS = 3000;
const KILL_MILLISECONDS = 50;

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
  /** What became of edits that were decided on: of a session that is not open there are no events. */
  decided(edits: Edit[]): void;
  ask: Asker;
  commands: CommandOverrides;
  /** Whether a turn is shown by something else than a notification. */
  isWatched(): boolean;
  /** The server runs, perhaps again: the client starts one anew that ended by itself. */
  started(): void;
  stopped(): void;
}

/** Logs, and shows no message, while `isQuiet`. */
class QuietClient extends LanguageClient {
  isQuiet: () => boolean = () => false;
  override error(message: string, data?: unknown, show: boolean | "force" = true): void {
    super.error(message, data, this.isQuiet() ? false : show);
  }

  /** What a command fails with is told once, by who ran it. */
  override handleFailedRequest<T>(
    type: MessageSignature,
    token: vscode.CancellationToken | undefined,
    error: unknown,
    defaultValue: T,
    shows = true,
    throwOnCancel = false,
  ): T {
    const isTold = type.method === "workspace/executeCommand";
    return super.handleFailedRequest(type, token, error, defaultValue, shows && !isTold, throwOnCancel);
  }
}

/** A server's process and what is said to it. */
export class Client {
  private readonly client: LanguageClient;
  private readonly turns: TurnProgress;
  private isKnown = false;
  private ran = false;
  private isEnding = false;
  private isLate = false;
  private limit: NodeJS.Timeout | undefined;
  private shows: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly program: string,
    options: Record<string, unknown>,
    keys: string[],
    private readonly hooks: Hooks,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const server = { command: program, args: ["serve"] };
    this.turns = new TurnProgress(
      () => hooks.isWatched(),
      (token) => void client.sendNotification("window/workDoneProgress/cancel", { token }),
    );
    const client = new QuietClient(SECTION, "Agent", server, {
      documentSelector: [{ scheme: "file" }],
      initializationOptions: options,
      outputChannel: log,
      traceOutputChannel: withoutKeysIn(log, keys),
      progressOnInitialization: false,
      initializationFailedHandler: () => false,
      middleware: middleware(hooks, this.turns, (shown) => (this.shows = shown)),
    });
    // Who asked for a start is told how it failed, and nobody of one that was ended.
    client.isQuiet = () => !this.ran || this.isEnding;
    client.registerFeature(EXPERIMENTAL);
    client.onNotification("agent/event", (event: AgentEvent) => hooks.event(event));
    client.onRequest("agent/ask", hooks.ask);
    client.onRequest("agent/saveDocument", saveDocument);
    client.onRequest("agent/reloadDocument", reloadDocument);
    client.onRequest("agent/diagnostics", diagnostics);
    client.onDidChangeState(({ newState }) => this.changed(newState));
    const usual = client.createDefaultErrorHandler();
    client.clientOptions.errorHandler = {
      error: (error, message, count) => usual.error(error, message, count),
      // One that never ran does no better a moment later, and one that is ended stays so.
      closed: () =>
        this.ran && !this.isEnding
          ? usual.closed()
          : { action: CloseAction.DoNotRestart, handled: true },
    };
    this.client = client;
  }

  /** Joins a start that is under way. Raises Error where it is not one of ours, or does not come
   * up. */
  async start(): Promise<void> {
    await this.client.start().catch((error: Error) => {
      this.log.error(error);
      const what = this.isLate
        ? `did not answer within ${START_MILLISECONDS / 1000} seconds`
        : "ended while it was starting";
      throw new Error(`The agent's server ${what}; its log says more.`);
    });
    const version = this.client.initializeResult?.capabilities.experimental?.agent
      ?.version as unknown;
    if (version !== PROTOCOL_VERSION) {
      await this.stop();
      throw new Error(
        `${this.program} is no server that this version of the extension can talk to.`,
      );
    }
    if (this.isKnown) return; // it was started again, and that was told
    this.isKnown = true;
    this.hooks.started();
  }

  private changed(state: State): void {
    clearTimeout(this.limit);
    if (state === State.Starting) {
      this.limit = setTimeout(() => {
        this.isLate = true;
        this.kill();
      }, START_MILLISECONDS);
    } else if (state === State.Running) {
      this.ran = true;
      if (this.isKnown) this.hooks.started();
    } else if (state === State.Stopped && this.ran) {
      this.turns.endAll();
      this.hooks.stopped();
    }
  }

  get isStarting(): boolean {
    return this.client.state === State.Starting;
  }

  get isRunning(): boolean {
    return this.isKnown && this.client.state === State.Running;
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

  /** Once the place is shown that the server has asked for last. */
  async shown(): Promise<void> {
    await this.shows;
  }

  configurationChanged(): void {
    void this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  /** Ends the process, whatever it is at; one that does not end by itself is killed. */
  async stop(): Promise<void> {
    this.isEnding = true;
    if (this.client.state === State.Running) {
      const process = this.client.serverProcess;
      await this.client.stop(STOP_MILLISECONDS).catch((error: Error) => {
        this.log.error(error);
        this.kill(process);
      });
    } else if (this.isStarting) {
      // It may not have a process yet.
      const killing = setInterval(() => this.kill(), KILL_MILLISECONDS);
      await this.client.start().catch(() => undefined); // the attempt under way, whichever it is
      clearInterval(killing);
    }
  }

  /** Its pipes are closed too: a process that it has left behind may hold them open. */
  private kill(process = this.client.serverProcess): void {
    process?.kill("SIGKILL");
    process?.stdin?.destroy();
    process?.stdout?.destroy();
  }
}

/** Why the server refused a request. */
export function kindOf(error: unknown): string | undefined {
  return (error as { data?: { kind?: string } }).data?.kind;
}

/** A trace may hold all that is said to the server. */
function withoutKeysIn(log: vscode.LogOutputChannel, keys: string[]): vscode.LogOutputChannel {
  const trace = (message: string): void => log.trace(withoutKeys(message, keys));
  return Object.create(log, { trace: { value: trace } }) as vscode.LogOutputChannel;
}

/** Of the answer to a decision. */
function editsIn(answer: unknown): Edit[] {
  const { edit, edits = [] } = (answer ?? {}) as { edit?: Edit; edits?: Edit[] };
  return edit ? [edit, ...edits] : edits;
}

function middleware(
  hooks: Hooks,
  turns: TurnProgress,
  shows: (shown: Promise<unknown>) => void,
): Middleware {
  return {
    async sendRequest(type, param, token, next) {
      const answer = await next(type, param, token);
      const method = typeof type === "string" ? type : type.method;
      if (method !== "agent/edits") hooks.decided(editsIn(answer)); // who lists them decides nothing
      return answer;
    },
    async executeCommand(command, args, next) {
      const override = hooks.commands[command];
      try {
        return await (override ? override(args[0]) : next(command, args));
      } catch (error) {
        tellError((error as Error).message);
        return undefined;
      }
    },
    handleWorkDoneProgress(token, params, next) {
      turns.take(token, params);
      if (params.kind === "end") next(token, params); // the client forgets its own, never shown
    },
    window: {
      showDocument(params, token, next) {
        const shown = Promise.resolve(next(params, token));
        shows(shown.then(() => arrived(params)));
        return shown;
      },
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
