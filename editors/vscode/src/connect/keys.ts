// Keys of the embedded agent's models: kept in VS Code's secret storage, each for the place that it
// is for, and handed to the server for that agent's environment. No settings file has them.

import * as vscode from "vscode";

import { SECTION } from "../settings";

export type Provider = "anthropic" | "openai";

const KEYS: Record<Provider, { key: string; url: string }> = {
  anthropic: { key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL" },
  openai: { key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" },
};
const PROVIDERS = Object.keys(KEYS) as Provider[];

/** Some servers want no key; their maker's client does, and must not send the one of its maker. */
const NO_KEY = "none";

/** What the settings have of the embedded agent. */
export interface BuiltinSettings {
  provider?: string;
  model?: string;
  env?: Record<string, string>;
  [other: string]: unknown;
}

interface OwnSettings {
  agents?: { builtin?: BuiltinSettings } & Record<string, unknown>;
  [other: string]: unknown;
}

/** A place that models come from. `address`: none is its maker's own. */
export interface Place {
  provider: Provider;
  address?: string;
  model?: string;
}

/** The options, with the keys that are kept for where their embedded agent asks; and these keys. */
export async function withKeys(
  options: OwnSettings,
  secrets: vscode.SecretStorage,
): Promise<{ options: OwnSettings; keys: string[] }> {
  const builtin = options.agents?.builtin ?? {};
  const kept: Record<string, string> = {};
  for (const provider of PROVIDERS) {
    if (builtin.provider !== undefined && builtin.provider !== provider) continue;
    const key = await secrets.get(nameOf(provider, builtin.env?.[KEYS[provider].url]));
    if (key !== undefined) kept[KEYS[provider].key] = key;
  }
  const keys = Object.values(kept);
  if (keys.length === 0) return { options, keys };
  const env = { ...builtin.env, ...kept };
  const agents = { ...options.agents, builtin: { ...builtin, env } };
  return { options: { ...options, agents }, keys };
}

/** For a log, which may trace what is said to the server. */
export function withoutKeys(text: string, keys: string[]): string {
  return keys.reduce((left, key) => left.replaceAll(JSON.stringify(key), '"…"'), text);
}

/** Has the embedded agent ask there from now on; with no key, one that is kept for it goes. */
export async function usePlace(place: Place, key: string, secrets: vscode.SecretStorage) {
  const { provider, address } = place;
  const name = nameOf(provider, address);
  await (key === "" ? secrets.delete(name) : secrets.store(name, key));
  const configuration = vscode.workspace.getConfiguration(SECTION);
  const own = configuration.inspect<Record<string, BuiltinSettings>>("agents")?.globalValue ?? {};
  const builtin = settingsFor(place, key, own["builtin"] ?? {});
  const target = vscode.ConfigurationTarget.Global;
  await configuration.update("agents", { ...own, builtin }, target);
}

function settingsFor({ provider, address, model }: Place, key: string, had: BuiltinSettings) {
  const { model: _model, env: before = {}, ...rest } = had;
  const env = { ...before };
  for (const { key: keyName, url } of Object.values(KEYS)) {
    delete env[keyName];
    delete env[url];
  }
  if (address !== undefined) {
    env[KEYS[provider].url] = address;
    if (key === "") env[KEYS[provider].key] = NO_KEY;
  }
  return {
    ...rest,
    provider,
    ...(model && { model }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

function nameOf(provider: Provider, address: string | undefined): string {
  return address === undefined ? `key:${provider}` : `key:${provider}@${address}`;
}
