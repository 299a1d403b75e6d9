// The commands that the person has allowed for good: shown, and taken back one by one.

import type { Agent } from "./agent";
import { tell } from "./notices";
import { Nothing, pick } from "./pickers";
import type { KeptPermission } from "./protocol";

/** The one that is chosen is asked about again. */
export async function pickPermission(agent: Agent): Promise<void> {
  const client = await agent.connection.ensure();
  const chosen = await pick("Allowed for good: choose what to be asked about again", async () => {
    const { permissions } = await client.request<{ permissions: KeptPermission[] }>("permissions");
    if (permissions.length === 0) throw new Nothing("No command is allowed for good.");
    return permissions.map(item);
  });
  if (chosen === undefined) return;
  await client.request("permissions", { remove: [chosen.permissionId] });
  tell("You will be asked about that command again.");
}

function item({ permissionId, command, folder, since }: KeptPermission) {
  return {
    label: asItIs(command),
    description: new Date(since * 1000).toLocaleDateString(),
    detail: folder === undefined ? "Everywhere" : asItIs(`In ${folder}`),
    permissionId,
  };
}

/** In one line, and nothing of it an icon, as a list makes of `$(name)`. */
function asItIs(text: string): string {
  return text.replaceAll("\n", " ↵ ").replaceAll(/\$\([\w~-]+\)/g, "\\$&");
}
