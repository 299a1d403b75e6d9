// Command lines that a person runs by pressing a button, where they see them run.

import { homedir } from "node:os";
import * as vscode from "vscode";

/** Runs a line in a terminal, away from the repository; its exit code once it has ended. */
export async function runShown(title: string, line: string): Promise<number | undefined> {
  const shell = new vscode.ShellExecution(line, { cwd: homedir() });
  const task = new vscode.Task({ type: "lspAgent" }, vscode.TaskScope.Global, title, "Agent", shell, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: true, showReuseMessage: false };
  const execution = await vscode.tasks.executeTask(task);
  return new Promise((resolve) => {
    const ended = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== execution) return;
      ended.dispose();
      resolve(event.exitCode);
    });
  });
}
