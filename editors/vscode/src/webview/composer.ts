// The prompt being written: its text, what goes along with it, and what `@` and `/` offer.

import { narrowed } from "../chat/fitting";
import type { Attachment, Draft, Head, Image, Suggestion } from "../chat/messages";
import { button, el, icon, isComposed } from "./dom";
import type { Post } from "./parts";

/** What stands before the cursor and opens the list: a word, or with an `@` a name that may have
 * blanks in it. */
const SIGN = /(?:^|\s)(?:(@)((?:[^\s@][^\n@]{0,99})?)|(\/)([^\s@]*))$/;

/** What models take. */
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const STEER_KEY = navigator.platform.startsWith("Mac") ? "⌘Enter" : "Ctrl+Enter";

export class Composer {
  readonly element: HTMLFormElement;
  private readonly input = el("textarea", {
    rows: "1",
    "aria-label": "Message to the agent",
    "aria-describedby": "keys",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "suggestions",
    "aria-autocomplete": "list",
  });
  private readonly chips = el("ul", { class: "chips", "aria-label": "Sent along" });
  private readonly list = el("ul", { id: "suggestions", role: "listbox", "aria-label": "Suggestions" });
  private readonly model = button("", () => this.command("lspAgent.chat.model"), {
    class: "quiet",
    title: "Model and agent",
  });
  private readonly options = button("", () => this.command("lspAgent.chat.options"), {
    class: "quiet",
    title: "Agent options",
  });
  private readonly usage = el("span", { class: "usage" });
  private readonly stop = button("", () => this.post({ type: "stop" }), {
    class: "icon stop",
    icon: "debug-stop",
    label: "Stop the agent (Escape)",
  });
  private readonly send = el(
    "button",
    { type: "submit", class: "icon send", "aria-label": "Send", title: "Send (Enter)" },
    icon("send"),
  );
  private readonly problem = el("p", { class: "notice error", role: "alert" });

  private attachments: Attachment[] = [];
  private images: Image[] = [];
  private offered: Attachment | undefined;
  private dismissed: string | undefined;
  /** The last list that came, and of it what fits what is typed by now: this is shown. */
  private offers: Suggestion[] = [];
  private suggestions: Suggestion[] = [];
  private active = 0;
  private number = 0;
  /** What the input begins with of prompts that did not go out. */
  private returned = "";

  constructor(private readonly post: Post) {
    const attach = button("", () => this.begin("@"), {
      class: "icon",
      icon: "mention",
      label: "Add a file (@)",
    });
    this.element = el(
      "form",
      { class: "composer" },
      this.problem,
      this.list,
      el(
        "div",
        { class: "box" },
        this.chips,
        this.input,
        el("div", { class: "tools" }, attach, this.model, this.options, this.usage, this.stop, this.send),
      ),
      el(
        "span",
        { id: "keys", class: "hidden" },
        "Enter sends, Shift and Enter begins a new line. @ adds a file, a slash lists commands." +
          " While the agent works, Enter adds to the queue, Control and Enter tells the agent at once.",
      ),
    );
    this.problem.hidden = true;
    this.list.hidden = true;
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(false);
    });
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("paste", (event) => this.pasted(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.left(), 150));
  }

  restore(draft: Draft): void {
    this.input.value = draft.text;
    this.attachments = draft.attachments;
    this.images = draft.images;
    this.show();
  }

  update(head: Head): void {
    const canSend = head.hindrance === undefined;
    this.input.disabled = !canSend;
    this.send.disabled = !canSend;
    this.stop.hidden = !head.busy;
    const what = head.busy ? "Queue: sent when the running turn has ended" : "Send";
    const also = head.canSteer ? `; ${STEER_KEY}: the agent reads it while it works` : "";
    this.send.setAttribute("aria-label", what);
    this.send.title = `${what} (Enter)${also}`;
    this.input.placeholder = placeholder(head);
    this.model.replaceChildren(head.agent || "Model", icon("chevron-down"));
    this.model.setAttribute("aria-label", `Model and agent: ${head.agent || "not chosen yet"}`);
    this.options.textContent = head.options;
    this.options.setAttribute("aria-label", `Agent options: ${head.options}`);
    this.options.hidden = head.options === "";
    this.usage.textContent = head.usage;
    this.usage.title = head.usage && "How full the model's window is; tokens to the model and from it, and cost, in this session";
    this.offered = head.selection;
    this.showChips();
  }

  attach(item: Attachment): void {
    if (!this.attachments.some((each) => each.label === item.label)) this.attachments.push(item);
    this.show();
  }

  insert(text: string): void {
    this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, "end");
    this.show();
  }

  focus(): void {
    this.input.focus();
  }

  accepted(): void {
    this.problem.hidden = true;
  }

  /** What did not go out of a prompt is there again with the reason, if there is one, before what
   * has been written since and behind what came back before. */
  takeBack({ text, attachments, images }: Draft, message?: string): void {
    if (text !== "") this.takeBackWords(text);
    this.keepImages([...this.images, ...images]);
    for (const item of attachments) if (item.label !== this.offered?.label) this.attach(item);
    this.problem.textContent = message ?? "";
    this.problem.hidden = message === undefined;
    this.show();
  }

  private takeBackWords(text: string): void {
    const { value } = this.input;
    const before = value.startsWith(this.returned) ? this.returned : "";
    const since = value.slice(before.length);
    const gap = (words: string): string => (words === "" ? "" : "\n\n");
    this.returned = before + gap(before) + text;
    this.input.value = this.returned + gap(since.trim()) + since.trimStart();
  }

  suggest(number: number, items: Suggestion[]): void {
    if (number !== this.number) return;
    this.offers = items;
    this.narrow();
  }

  /** Shows what fits of the list; the entry that a person went to stays the active one. */
  private narrow(): void {
    const found = this.word();
    const active = this.active > 0 ? this.suggestions[this.active]?.insert : undefined;
    this.suggestions = found ? narrowed(this.offers, found.sign, found.query) : [];
    this.active = Math.max(
      0,
      this.suggestions.findIndex(({ insert }) => insert === active),
    );
    this.showList();
  }

  private submit(steers: boolean): void {
    const text = this.input.value.trim();
    if (text === "" || this.send.disabled) return;
    this.post({ type: "send", draft: { text, attachments: this.along, images: this.images }, steers });
    this.input.value = "";
    this.returned = "";
    this.attachments = [];
    this.keepImages([]);
    this.problem.hidden = true;
    this.close();
    this.show();
  }

  /** Words are pasted as ever, even where their source gives a picture of them too. */
  private pasted(event: ClipboardEvent): void {
    const { clipboardData: pasted } = event;
    const files = [...(pasted?.files ?? [])].filter(({ type }) => IMAGES.includes(type));
    if (files.length === 0 || pasted?.getData("text/plain")) return;
    event.preventDefault();
    for (const file of files) void this.addImage(file);
  }

  private async addImage(file: File): Promise<void> {
    const data = await base64(file);
    const label = `image ${this.images.length + 1}`;
    this.keepImages([...this.images, { label, mimeType: file.type, data }]);
    this.show();
  }

  /** They are told apart from what is typed, which is told far more often. */
  private keepImages(images: Image[]): void {
    if (images.length === 0 && this.images.length === 0) return;
    this.images = images;
    this.post({ type: "draft", draft: { images } });
  }

  private key(event: KeyboardEvent): void {
    if (isComposed(event)) return;
    if (!this.list.hidden && this.listKey(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit(event.ctrlKey || event.metaKey);
    }
  }

  private listKey(key: string): boolean {
    if (key === "ArrowDown" || key === "ArrowUp") {
      const step = key === "ArrowDown" ? 1 : this.suggestions.length - 1;
      this.active = (this.active + step) % this.suggestions.length;
      this.showList();
    } else if (key === "Enter" && this.isWhole()) return false;
    else if (key === "Enter" || key === "Tab") this.take(this.active);
    else if (key === "Escape") this.close();
    else return false;
    return true;
  }

  private typed(): void {
    this.show();
    const found = this.word();
    // A command stands at the beginning; elsewhere a slash is part of a path.
    if (found === undefined || (found.sign === "/" && this.input.value.trimStart()[0] !== "/")) {
      this.close();
      return;
    }
    this.narrow(); // at once: what is taken is what was typed, however late the answer comes
    this.post({ type: "suggest", number: ++this.number, ...found });
  }

  /** Whether what is written is the active command, all of it: there is nothing to complete. */
  private isWhole(): boolean {
    const text = this.input.value.trim();
    return text.startsWith("/") && text === this.suggestions[this.active]?.insert;
  }

  private begin(sign: "@"): void {
    const before = this.input.value.slice(0, this.input.selectionStart);
    this.insert(/(^|\s)$/.test(before) ? sign : ` ${sign}`);
    this.focus();
    this.typed();
  }

  private take(index: number): void {
    const chosen = this.suggestions[index];
    const found = this.word();
    if (chosen === undefined || found === undefined) return;
    const end = this.input.selectionStart;
    const start = end - found.query.length - 1;
    this.input.setRangeText(`${chosen.insert} `, start, end, "end");
    if (chosen.attachment) this.attach(chosen.attachment);
    this.close();
    this.show();
    this.focus();
  }

  private word(): { sign: "@" | "/"; query: string } | undefined {
    const found = SIGN.exec(this.input.value.slice(0, this.input.selectionStart));
    if (found === null) return undefined;
    const [, at, name = "", , command = ""] = found;
    return at ? { sign: "@", query: name } : { sign: "/", query: command };
  }

  private left(): void {
    const isBack = document.hasFocus() && document.activeElement === this.input;
    if (!isBack) this.close(); // and what is typed since it came back keeps its list
  }

  private close(): void {
    this.number++;
    this.offers = [];
    this.suggestions = [];
    this.showList();
  }

  private show(): void {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 240)}px`;
    this.showChips();
    const { attachments } = this;
    // At every key: a view that is hidden, or closed with its window, has no time left.
    this.post({ type: "draft", draft: { text: this.input.value, attachments } });
  }

  /** What goes along with the prompt, the selection in the editor as the last. */
  private get along(): Attachment[] {
    const { attachments, offered } = this;
    if (offered === undefined || offered.label === this.dismissed) return attachments;
    const isThere = attachments.some(({ label }) => label === offered.label);
    return isThere ? attachments : [...attachments, offered];
  }

  private showChips(): void {
    const chips = this.images.map((item) =>
      chip(item.label, thumbnail(item), () => {
        this.keepImages(this.images.filter((each) => each !== item));
        this.show();
      }),
    );
    const selected = this.offered?.label;
    for (const { label } of this.along) {
      chips.push(
        chip(label, icon(label === selected ? "list-selection" : "file"), () => {
          if (label === selected) this.dismissed = label;
          this.attachments = this.attachments.filter((each) => each.label !== label);
          this.show();
        }),
      );
    }
    this.chips.replaceChildren(...chips);
    this.chips.hidden = chips.length === 0;
  }

  private showList(): void {
    const isOpen = this.suggestions.length > 0;
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    this.list.replaceChildren(
      ...this.suggestions.map(({ label, detail }, index) => {
        const option = el(
          "li",
          { role: "option", id: `option-${index}`, "aria-selected": String(index === this.active) },
          el("span", {}, label),
          el("span", { class: "faint" }, detail),
        );
        option.addEventListener("mousedown", (event) => {
          event.preventDefault();
          this.take(index);
        });
        return option;
      }),
    );
    if (isOpen) this.input.setAttribute("aria-activedescendant", `option-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  private command(command: string): void {
    this.post({ type: "command", command });
  }
}

function placeholder(head: Head): string {
  if (!head.busy) return "Ask the agent…  @ files  / commands";
  return head.canSteer ? `Add to the queue…  ${STEER_KEY} tells the agent now` : "Add to the queue…";
}

function thumbnail({ mimeType, data }: Image): HTMLElement {
  return el("img", { src: `data:${mimeType};base64,${data}`, alt: "" });
}

async function base64(file: File): Promise<string> {
  const reader = new FileReader();
  await new Promise((resolve, reject) => {
    reader.addEventListener("load", resolve);
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
  return (reader.result as string).replace(/^.*?,/, "");
}

function chip(label: string, sign: HTMLElement, remove: () => void): HTMLElement {
  return el(
    "li",
    {},
    sign,
    el("span", {}, label),
    button("", remove, { class: "icon", icon: "close", label: `Do not send ${label} along` }),
  );
}
