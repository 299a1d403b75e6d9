// The list of models and agents: what can answer, and what would have to be brought first.

import * as vscode from "vscode";

import type { Agent } from "./agent";
import type { Client } from "./client";
import type { Connect } from "./connect/connect";
import { BUILTIN } from "./connect/connect";
import type { Focus } from "./pickers";
import { open, pick } from "./pickers";
import type { AgentInfo, ModelInfo } from "./protocol";

interface Item extends vscode.QuickPickItem {
  model?: string;
  agent?: AgentInfo;
  isConnect?: boolean;
}

/** The session's models; or another agent, with which a new session begins. */
export async function pickModel(agent: Agent, connect: Connect, focus: Focus): Promise<void> {
  const chosen = await pick("Model or agent", async () => {
    const [models, here] = await Promise.all([modelsOf(agent), connect.agents()]);
    return items(models, here, agent.state?.agent);
  });
  if (chosen?.model !== undefined) {
    const { client, sessionId } = await open(agent);
    await client.request("setModel", { sessionId, model: chosen.model });
    await agent.refreshState(sessionId);
  } else if (chosen?.agent !== undefined && canBegin(chosen.agent)) {
    await agent.newSession({ agent: chosen.agent.name });
    await focus();
  } else if (chosen?.agent?.installCommand !== undefined) {
    await connect.by({ by: "install", name: chosen.agent.name });
  } else if (chosen !== undefined) {
    await connect.open();
  }
}

/** One of the person's own says by itself what is wrong with it. */
function canBegin({ name, usable, configured }: AgentInfo): boolean {
  return usable || (configured && name !== BUILTIN);
}

/** Or why there are none: an agent that does not start can still be changed for another. */
async function modelsOf(agent: Agent): Promise<Item[] | Error> {
  try {
    const { client, sessionId } = await open(agent);
    return await modelItems(client, sessionId).finally(() => agent.refreshState(sessionId));
  } catch (error) {
    return error as Error;
  }
}

function items(models: Item[] | Error, here: AgentInfo[], current: string | undefined): Item[] {
  const why = models instanceof Error ? models.message : "";
  const usable = here.filter((each) => canBegin(each) || each.name === current);
  const others = here.filter((each) => !usable.includes(each) && each.name !== BUILTIN);
  return [
    ...(models instanceof Error ? [] : models),
    separator("A new session with another agent"),
    ...usable.map((each) => agentItem(each, each.name === current, each.name === current ? why : "")),
    { label: "$(plug) Connect an agent or a key…", isConnect: true },
    ...(others.length > 0 ? [separator("Not on this machine yet")] : []),
    ...others.map((each) => agentItem(each, false, each.install ?? "")),
  ];
}

function agentItem(info: AgentInfo, isCurrent: boolean, detail: string): Item {
  const { name, title } = info;
  const isMissing = info.path === undefined;
  const description = [
    name === title ? "" : name,
    isCurrent && "current",
    isMissing && info.ownPath !== undefined && "its adapter for editors is missing",
  ];
  return {
    label: title,
    description: description.filter(Boolean).join(" · "),
    detail,
    agent: info,
  };
}

async function modelItems(client: Client, sessionId: string): Promise<Item[]> {
  type Models = { models: ModelInfo[]; current?: string };
  const told = await client.request<Models>("models", { sessionId });
  return [
    separator("Models of this session"),
    ...told.models.map(({ id, provider, contextWindow }) => ({
      label: id,
      description: [provider, id === told.current && "current"].filter(Boolean).join(" · "),
      detail: contextWindow ? `${Math.round(contextWindow / 1000)}k tokens of context` : "",
      model: id,
    })),
  ];
}

function separator(label: string): Item {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
