// Making elements.

type Child = Node | string | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (typeof value === "string") made.setAttribute(key, value);
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

export function icon(name: string, label?: string): HTMLElement {
  const hidden = label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label };
  return el("span", { class: `codicon codicon-${name}`, ...hidden });
}

export function button(
  text: string,
  onClick: (event: MouseEvent) => void,
  options: { class?: string; icon?: string; label?: string; title?: string } = {},
): HTMLButtonElement {
  const made = el(
    "button",
    {
      type: "button",
      class: options.class ?? "",
      "aria-label": options.label,
      title: options.title ?? options.label,
    },
    options.icon !== undefined && icon(options.icon),
    text !== "" && el("span", {}, text),
  );
  made.addEventListener("click", onClick);
  return made;
}

/** A key for an input method: of what is being composed, or the one that ends it, which WebKit says
 * by the code alone. */
export function isComposed(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
