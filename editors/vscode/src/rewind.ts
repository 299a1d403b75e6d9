// Back to an earlier prompt, or on from there in a new session.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import { warn } from "./notices";
import { Nothing, open, pick } from "./pickers";
import type { ForkResult, PastPrompt, RevertResult, RewindResult } from "./protocol";

/** Has the person write a prompt anew. */
type PutBack = (text: string) => Promise<void>;

type PromptItem = vscode.QuickPickItem & { turnId?: string };

/** To before that prompt, or one that the person chooses. */
export async function goBack(agent: Agent, putBack: PutBack, turnId?: string): Promise<void> {
  const chosen = turnId ?? (await pickPrompt(agent, "Back to before which prompt?"))?.turnId;
  if (chosen === undefined) return;
  const choices = [
    { label: "The conversation alone", detail: "Files stay as they are.", files: "keep" },
    {
      label: "The conversation and the files",
      detail: "What the agent changed since is taken out; what you did since stays.",
      files: "restore",
    },
  ];
  const choice = await vscode.window.showQuickPick(choices, { title: "What goes back?" });
  if (choice === undefined) return;
  const { client, sessionId } = await open(agent);
  const params = { sessionId, turnId: chosen, files: choice.files };
  const { text, reverted } = await client.request<RewindResult>("rewind", params);
  if (reverted !== undefined) tellLeft(reverted);
  await putBack(text);
}

/** From before a prompt that the person chooses, or from the end. */
export async function fork(agent: Agent, putBack: PutBack): Promise<void> {
  const now: PromptItem = { label: "$(comment-discussion) Now, with all that was said" };
  const chosen = await pickPrompt(agent, "A new session from before which prompt?", now);
  if (chosen === undefined) return;
  const { client, sessionId } = await open(agent);
  const { turnId } = chosen;
  const made = await client.request<ForkResult>("fork", { sessionId, turnId });
  await agent.resume(made.sessionId); // it is open, and is shown
  await putBack(made.text ?? "");
}

/** The newest first. */
function pickPrompt(
  agent: Agent,
  title: string,
  ...more: PromptItem[]
): Promise<PromptItem | undefined> {
  return pick(title, async () => {
    const { client, sessionId } = await open(agent);
    const { prompts } = await client.request<{ prompts: PastPrompt[] }>("prompts", { sessionId });
    if (prompts.length === 0) throw new Nothing("Nothing was said yet.");
    const items = prompts.map(({ turnId, text, time }) => ({
      label: text.trim().replace(/\s*\n[^]*/, " …"),
      description: time ? new Date(time * 1000).toLocaleString() : "",
      turnId,
    }));
    return [...more, ...items.reverse()];
  });
}

/** Of what was taken back: the files that stayed as they were. */
export function tellLeft({ files }: RevertResult): void {
  const left = files.filter((file) => file.outcome === "conflict");
  if (left.length === 0) return;
  const names = left.map((file) => `${file.uri.split("/").at(-1)} (${file.reason ?? "conflict"})`);
  warn(`Not taken back: ${names.join(", ")}`);
}
