// The prompt being written: its text, what goes along with it, and what `@` and `/` offer.

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
  private suggestions: Suggestion[] = [];
  private active = 0;
  private number = 0;
  /** What the list that is shown was asked with. */
  private answered = "";
  /** What the input begins with of prompts that did not go out. */
  private returned = "";

  constructor(
    private readonly post: Post,
    private readonly changed: (draft: Omit<Draft, "images">) => void,
  ) {
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
    this.usage.title = head.usage && "Tokens to the model and from it, and cost, in this session";
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

  /** The prompt did not go out: it is there again with the reason, before what has been written
   * since and behind those before it that did not go out either. */
  refused({ text, attachments, images }: Draft, message: string): void {
    const { value } = this.input;
    const before = value.startsWith(this.returned) ? this.returned : "";
    const since = value.slice(before.length);
    const gap = (words: string): string => (words === "" ? "" : "\n\n");
    this.returned = before + gap(before) + text;
    this.input.value = this.returned + gap(since.trim()) + since.trimStart();
    this.keepImages([...this.images, ...images]);
    for (const item of attachments) if (item.label !== this.offered?.label) this.attach(item);
    this.problem.textContent = message;
    this.problem.hidden = false;
    this.show();
  }

  suggest(number: number, items: Suggestion[]): void {
    if (number !== this.number) return;
    this.suggestions = items;
    this.answered = this.word()?.query ?? "";
    this.active = 0;
    this.showList();
  }

  private submit(steers: boolean): void {
    const text = this.input.value.trim();
    if (text === "" || this.send.disabled) return;
    const attachments = [...this.attachments];
    if (this.offered && this.offered.label !== this.dismissed) attachments.push(this.offered);
    this.post({ type: "send", draft: { text, attachments, images: this.images }, steers });
    this.input.value = "";
    this.returned = "";
    this.attachments = [];
    this.keepImages([]);
    this.problem.hidden = true;
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
    } else if (key === "Enter" || key === "Tab") return this.take(this.active);
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
    this.post({ type: "suggest", number: ++this.number, ...found });
  }

  private begin(sign: "@"): void {
    const before = this.input.value.slice(0, this.input.selectionStart);
    this.insert(/(^|\s)$/.test(before) ? sign : ` ${sign}`);
    this.focus();
    this.typed();
  }

  /** Whether it was taken: words typed behind a name, before the list has gone, are not lost. */
  private take(index: number): boolean {
    const chosen = this.suggestions[index];
    const found = this.word();
    if (chosen === undefined || found === undefined) return false;
    if (found.query !== this.answered && /\s/.test(found.query)) return false;
    const end = this.input.selectionStart;
    const start = end - found.query.length - 1;
    this.input.setRangeText(`${chosen.insert} `, start, end, "end");
    if (chosen.attachment) this.attach(chosen.attachment);
    this.close();
    this.show();
    this.focus();
    return true;
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
    this.suggestions = [];
    this.showList();
  }

  private show(): void {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 240)}px`;
    this.showChips();
    this.changed({ text: this.input.value, attachments: this.attachments });
  }

  private showChips(): void {
    const chips = this.images.map((item) =>
      chip(item.label, thumbnail(item), () => {
        this.keepImages(this.images.filter((each) => each !== item));
        this.show();
      }),
    );
    const files = this.attachments.map((item) =>
      chip(item.label, icon("file"), () => {
        this.attachments = this.attachments.filter((each) => each !== item);
        this.show();
      }),
    );
    chips.push(...files);
    const { offered } = this;
    if (offered && offered.label !== this.dismissed) {
      chips.push(
        chip(offered.label, icon("list-selection"), () => {
          this.dismissed = offered.label;
          this.showChips();
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
