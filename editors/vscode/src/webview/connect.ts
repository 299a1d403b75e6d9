// The card "Connect an agent": what is on this machine, then by key, then what could be brought.

import type { Card, ConnectBy } from "../chat/messages";
import type { AgentInfo, ModelServer } from "../protocol";
import { button, el, icon } from "./dom";
import type { Post } from "./parts";

const GET_KEY = {
  anthropic: "https://console.anthropic.com/settings/keys",
  openai: "https://platform.openai.com/api-keys",
} as const;

/** Of a button: the first of a list stands out. */
type Look = "primary" | "secondary";

export class ConnectCard {
  readonly element = el("section", { id: "connect", "aria-labelledby": "connect-title" });
  private readonly status = el("p", { class: "notice", role: "status" });
  private readonly failure = el("p", { class: "notice error", role: "alert" });
  private readonly here = el("div", {});
  private readonly others = el("div", {});
  private readonly close = button("", () => this.post({ type: "closeCard" }), {
    class: "icon",
    icon: "close",
    label: "Back to the conversation",
  });
  private shown = "";

  constructor(private readonly post: Post) {
    this.element.append(
      el("header", {}, el("h2", { id: "connect-title" }, "Connect an agent"), this.close),
      el("p", { class: "faint" }, "It reads what you see in the editor; you review what it changes."),
      this.failure,
      this.status,
      this.here,
      el("h3", {}, "With a key or a server"),
      this.keyForm("anthropic", "Anthropic"),
      this.keyForm("openai", "OpenAI"),
      this.serverForm(),
      this.others,
    );
    this.element.hidden = true;
  }

  update(card: Card | undefined): void {
    if (this.element.hidden !== (card === undefined)) this.element.hidden = card === undefined;
    const text = JSON.stringify(card ?? "");
    if (card === undefined || text === this.shown) {
      if (card === undefined) this.forget();
      return;
    }
    this.shown = text;
    this.close.hidden = !card.isConnected;
    show(this.failure, card.failure);
    show(this.status, card.doing, icon("loading codicon-modifier-spin"));
    this.element.classList.toggle("busy", card.doing !== undefined);
    this.here.replaceChildren(...this.onThisMachine(card));
    this.others.replaceChildren(...this.notHere(card));
    for (const each of this.element.querySelectorAll("button")) each.disabled = card.doing !== undefined;
  }

  /** A key does not stay where it was typed. */
  private forget(): void {
    this.shown = "";
    for (const each of this.element.querySelectorAll("input")) each.value = "";
    for (const each of this.element.querySelectorAll("details")) each.open = false;
  }

  private onThisMachine({ agents, servers }: Card): HTMLElement[] {
    const rows = [
      ...agents.filter((each) => each.usable).map((each) => (look: Look) => this.usable(each, look)),
      ...agents.filter(isAdapterMissing).map((each) => (look: Look) => this.missing(each, look)),
      ...servers.map((each) => (look: Look) => this.server(each, look)),
    ].map((row, index) => row(index === 0 ? "primary" : "secondary"));
    const look = button("Look Again", () => this.by({ by: "look" }), { class: "link" });
    const none = el("p", { class: "faint" }, "No agent and no server of models was found. ");
    return [
      el("h3", {}, "On this machine", look),
      rows.length > 0 ? el("ul", { class: "choices" }, ...rows) : none,
    ];
  }

  private notHere({ agents }: Card): HTMLElement[] {
    const absent = agents.filter((each) => each.path === undefined && !isAdapterMissing(each));
    if (absent.length === 0) return [];
    return [
      el(
        "details",
        { name: "connect" },
        el("summary", {}, "Install another agent"),
        el("ul", { class: "choices" }, ...absent.map((each) => this.missing(each, "secondary"))),
      ),
    ];
  }

  private usable({ name, title, chosen }: AgentInfo, look: Look): HTMLElement {
    const detail = chosen ? "used now" : "";
    const use = button("Use", () => this.by({ by: "agent", name }), {
      class: look,
      label: `Use ${title}`,
    });
    return row(title, detail, use);
  }

  private missing(info: AgentInfo, look: Look): HTMLElement {
    const { name, title, ownPath, install, installCommand } = info;
    const detail = ownPath === undefined ? "" : "needs its adapter for editors";
    if (installCommand === undefined) return row(title, install ?? detail);
    const bring = button("Install", () => this.by({ by: "install", name }), {
      class: look,
      label: `Install ${title}`,
      title: installCommand,
    });
    return row(title, detail, bring);
  }

  private server({ title, address, models }: ModelServer, look: Look): HTMLElement {
    const choice = el(
      "select",
      { "aria-label": `Model of ${title}` },
      ...models.map((model) => el("option", {}, model)),
    );
    const use = button(
      "Use",
      () => this.by({ by: "server", address, model: choice.value, key: "" }),
      { class: look, label: `Use ${title}`, title: address },
    );
    return row(title, "", choice, use);
  }

  private keyForm(provider: "anthropic" | "openai", title: string): HTMLElement {
    const key = field("API key", { type: "password", required: true });
    const link = button("Get a key", () => this.post({ type: "openLink", href: GET_KEY[provider] }), {
      class: "link",
    });
    return this.form(title, [key.label], [link], () => {
      this.by({ by: "key", provider, key: key.input.value.trim() });
    });
  }

  private serverForm(): HTMLElement {
    const address = field("Address", { placeholder: "http://localhost:8080/v1", required: true });
    const model = field("Model", { placeholder: "qwen3-coder", required: true });
    const key = field("Key, if it wants one", { type: "password" });
    const fields = [address.label, model.label, key.label];
    return this.form("Another server", fields, [], () => {
      const typed = [address, model, key].map(({ input }) => input.value.trim());
      const [at = "", named = "", secret = ""] = typed;
      this.by({ by: "server", address: at, model: named, key: secret });
    });
  }

  private form(title: string, fields: Node[], beside: Node[], send: () => void): HTMLElement {
    const submit = el("button", { type: "submit", class: "primary" }, "Connect");
    const kept = el("p", { class: "faint" }, "A key is kept in VS Code's secret storage, in no settings file.");
    const form = el(
      "form",
      { autocomplete: "off" },
      ...fields,
      kept,
      el("div", { class: "buttons" }, submit, ...beside),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send();
    });
    const details = el("details", { name: "connect" }, el("summary", {}, title), form);
    details.addEventListener("toggle", () => {
      if (!details.open) return;
      form.querySelector("input")?.focus();
      details.scrollIntoView({ block: "nearest" });
    });
    return details;
  }

  private by(chosen: ConnectBy): void {
    this.post({ type: "connect", chosen });
  }
}

function isAdapterMissing({ path, ownPath }: AgentInfo): boolean {
  return path === undefined && ownPath !== undefined;
}

function show(line: HTMLElement, text: string | undefined, ...before: Node[]): void {
  line.hidden = text === undefined;
  line.replaceChildren(...before, text ?? "");
}

function row(title: string, detail: string, ...controls: HTMLElement[]): HTMLElement {
  const words = el(
    "span",
    { class: "words" },
    title,
    detail !== "" && el("span", { class: "faint" }, detail),
  );
  return el("li", {}, words, ...controls);
}

function field(text: string, attributes: Record<string, string | boolean>) {
  const input = el("input", { type: "text", spellcheck: "false", ...attributes });
  return { input, label: el("label", {}, text, input) };
}
