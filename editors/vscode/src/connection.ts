// The server's life: looked for, installed where it is not there, started, and started again.

import * as vscode from "vscode";

import { Client } from "./client";
import type { Hooks } from "./client";
import { withKeys } from "./connect/keys";
import { findServer, installServer } from "./server/find";
import { ServerError } from "./server/server_error";
import { initializationOptions } from "./settings";

export type ServerState =
  | { kind: "restricted" | "noFolder" | "stopped" | "starting" | "ready" }
  | { kind: "failed"; message: string; problem: ServerError["kind"] | "start" };

export interface ConnectionHooks extends Omit<Hooks, "started"> {
  /** `state` did. */
  changed(): void;
}

export class Connection {
  state: ServerState = { kind: "stopped" };

  private client: Client | undefined;
  private starting: Promise<Client> | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly hooks: ConnectionHooks,
  ) {}

  /** The running server, if there is one. */
  get running(): Client | undefined {
    return this.client?.isRunning ? this.client : undefined;
  }

  /** Starts the server if it is installed; says in `state` why it is not running. */
  async startIfThere(): Promise<void> {
    await this.ensure(false).catch(() => undefined);
  }

  /** The running server; starts it, and installs it where it is not there. Raises Error. */
  async ensure(install = true): Promise<Client> {
    if (install) await this.starting?.catch(() => undefined); // it may only have looked
    if (this.running) return this.running;
    this.starting ??= this.start(install).finally(() => (this.starting = undefined));
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop(); // also one that hangs while it is starting
    await this.starting?.catch(() => undefined);
    await this.stop();
    this.client = undefined;
    await this.ensure();
  }

  async stop(): Promise<void> {
    await this.client?.stop();
  }

  private async start(install: boolean): Promise<Client> {
    const hindrance = !vscode.workspace.isTrusted
      ? "restricted"
      : !vscode.workspace.workspaceFolders?.length
        ? "noFolder"
        : undefined;
    if (hindrance !== undefined) {
      this.change({ kind: hindrance });
      throw new Error(
        hindrance === "restricted" ? "This folder is not trusted." : "No folder is open.",
      );
    }
    this.change({ kind: "starting" });
    try {
      // One that ended may be on its way again by itself.
      const client = this.client?.isStarting ? this.client : await this.made(install);
      await client.start();
      return client;
    } catch (error) {
      this.failed(error as Error);
      throw error;
    }
  }

  /** A client that is not started yet, in place of the one before. Raises Error. */
  private async made(install: boolean): Promise<Client> {
    let program = await findServer(this.context);
    if (program === undefined && !install) {
      throw new ServerError("The agent's server is not installed yet.", "absent");
    }
    program ??= await installServer(this.context, this.log);
    await this.stop(); // one that could not be started again by itself
    const hooks: Hooks = {
      ...this.hooks,
      started: () => this.change({ kind: "ready" }),
      stopped: () => {
        this.hooks.stopped();
        this.change({ kind: "stopped" });
      },
    };
    const said = await withKeys(initializationOptions(), this.context.secrets);
    this.client = new Client(program, said.options, said.keys, hooks, this.log);
    return this.client;
  }

  private failed(error: Error): void {
    const problem = error instanceof ServerError ? error.kind : "start";
    if (problem === "absent") return this.change({ kind: "stopped" });
    this.log.error(error);
    this.change({ kind: "failed", message: error.message, problem });
  }

  private change(state: ServerState): void {
    this.state = state;
    this.hooks.changed();
  }
}
