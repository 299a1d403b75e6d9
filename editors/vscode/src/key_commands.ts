// Commands on keys, run in the order of the keys. VS Code has the first use of a command that the
// manifest names wait until all extensions were asked whether it starts them, and what is typed
// behind it overtakes it: a change would be undone that was never meant.

import * as vscode from "vscode";

const FIRST_USE = "lspAgent.firstUse";

/** Registers a command and has it used for the first time, to no effect. */
export function registerKeyCommand(command: string, run: () => unknown): vscode.Disposable {
  const registered = vscode.commands.registerCommand(command, (argument: unknown) =>
    argument === FIRST_USE ? undefined : run(),
  );
  // By the window: here it would be run without its knowing.
  const uses = { commands: [{ command, args: FIRST_USE }] };
  void vscode.commands.executeCommand("runCommands", uses);
  return registered;
}
