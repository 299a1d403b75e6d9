// What mends an agent that did not answer: one button beneath the sentence that says so.

import type { ConnectBy } from "../chat/messages";
import type { AgentInfo } from "../protocol";

export interface Mend {
  title: string;
  /** Undefined: the card, on which another can be chosen. */
  chosen?: ConnectBy;
}

/** As the server says it of the embedded agent. */
const KEY_TROUBLE = /the key was refused|there is no key for|has no model yet/;

/** `said`: the agent had begun to answer, so it runs. Undefined where no button would help. */
export function mendOf(info: AgentInfo, error: string, said: boolean): Mend | undefined {
  const { name, title } = info;
  if (name === "builtin") return KEY_TROUBLE.test(error) ? { title: "Connect…" } : undefined;
  if (info.path === undefined) {
    return info.installCommand === undefined
      ? undefined
      : { title: `Install ${title}`, chosen: { by: "install", name } };
  }
  // The server names the command that signs in where the agent says that it needs that.
  if (info.signInCommand !== undefined && error.includes(`\`${info.signIn}\``)) {
    return { title: `Sign In to ${title}`, chosen: { by: "signIn", name } };
  }
  if (!said && info.installCommand !== undefined) {
    return { title: `Update ${title}`, chosen: { by: "install", name } };
  }
  return undefined;
}
