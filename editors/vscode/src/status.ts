// The status bar: what the agent does, and how many of its changes wait for review.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { Questions } from "./questions";
import type { Review } from "./review";
import { setContext } from "./review";

export class StatusBar implements vscode.Disposable {
  private readonly agentItem = item("lspAgent.status", "Agent", 20);
  private readonly reviewItem = item("lspAgent.changes", "The agent's changes", 19);
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly agent: Agent,
    private readonly questions: Questions,
    private readonly review: Review,
  ) {
    const update = (): void => this.update();
    this.disposables = [
      this.agentItem,
      this.reviewItem,
      agent.onTouch(update),
      agent.onChange(update),
      agent.onSwitch(update),
      questions.onChange(update),
      review.onChange(update),
    ];
    this.update();
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private update(): void {
    const asking = this.questions.list()[0];
    const busy = this.agent.isAnyBusy;
    setContext("busy", busy);
    setContext("asking", asking !== undefined);
    const server = this.agent.connection.state;
    this.agentItem.command = asking ? "lspAgent.chat.answer" : "lspAgent.menu";
    this.agentItem.backgroundColor = asking && new vscode.ThemeColor("statusBarItem.warningBackground");
    if (asking) show(this.agentItem, "question", "Agent asks", asking.title);
    else if (busy) show(this.agentItem, "loading~spin", "Agent works", this.doing());
    else if (server.kind === "failed") show(this.agentItem, "error", "Agent", server.message);
    else if (server.kind === "starting") show(this.agentItem, "loading~spin", "Agent", "Starting");
    else if (server.kind === "ready") show(this.agentItem, "comment-discussion", "Agent", "Ready");
    else show(this.agentItem, "comment-discussion", "Agent", "Starts when you first need it");
    const { count } = this.review;
    this.reviewItem.command = "lspAgent.review.next";
    const changes = count === 1 ? "1 change" : `${count} changes`;
    show(this.reviewItem, "diff", changes, `${changes} of the agent's to review: go to the next`);
    if (count === 0) this.reviewItem.hide();
  }

  private doing(): string {
    const turn = this.agent.chat?.turns.find((each) => each.state === "running");
    const tool = turn?.parts.findLast((part) => part.kind === "tool" && part.state === "running");
    return tool?.kind === "tool" ? `${tool.tool}: ${tool.subject}` : "Working";
  }
}

function item(id: string, name: string, priority: number): vscode.StatusBarItem {
  const made = vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Left, priority);
  made.name = name;
  return made;
}

function show(target: vscode.StatusBarItem, icon: string, text: string, tooltip: string): void {
  target.text = `$(${icon}) ${text}`;
  target.tooltip = tooltip;
  target.accessibilityInformation = { label: `${text}: ${tooltip}`, role: "button" };
  target.show();
}
