// Keys that do something, as the server's table says (`pages/shortcuts.py`): never while somebody types, and while a
// dialogue is open only those that belong to it.
import { isOpen, lead } from "./dialogs.js";
import { openPalette } from "./palette.js";

const TYPED_IN = "input:not([type=checkbox]), select, textarea, [contenteditable]";

/** @type {Record<string, () => void>} */
const DEEDS = {
  palette: openPalette,
  search: () => reach("input[type=search]", "/"),
  create: () => lead("/workspaces/new"),
  next: () => step(1),
  previous: () => step(-1),
  open: () => press("open"),
  switch: () => press("start", "stop"),
  help: () => lead("/shortcuts"),
};

const table = /** @type {HTMLTemplateElement | null} */ (document.getElementById("keys"));
const keys = [...(table?.content.querySelectorAll("[data-does]") ?? [])].map((each) => each.attributes);

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey || event.repeat) return;
  const isModified = event.ctrlKey || event.metaKey;
  const isTyping = isTypedIn(/** @type {HTMLElement} */ (event.target));
  if (!isModified && (isTyping || isOpen())) return;
  const pressed = `${isModified ? "Mod+" : ""}${letter(event)}`;
  const found = keys.find((each) => each.getNamedItem("data-pressed")?.value === pressed);
  const deed = DEEDS[found?.getNamedItem("data-does")?.value ?? ""];
  if (!deed) return;
  event.preventDefault();
  deed();
});

/**
 * A field of a dialogue that has just been closed keeps the focus until the next frame, and is typed in no more.
 * @param {HTMLElement} target
 */
function isTypedIn(target) {
  return target.closest(TYPED_IN) !== null && target.checkVisibility();
}

/**
 * The Latin letter of a key, also while the keyboard writes Korean.
 * @param {KeyboardEvent} event
 */
function letter(event) {
  return event.key.charCodeAt(0) > 127 && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.key;
}

/**
 * @param {string} selector
 * @param {string} elsewhere where there is one, if not here
 */
function reach(selector, elsewhere) {
  const found = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  if (found) found.focus();
  else location.assign(elsewhere);
}

/** @param {number} by */
function step(by) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".card")]);
  const at = all.findIndex((each) => each.contains(document.activeElement));
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
  next?.querySelector("a, button")?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/**
 * Of the card that somebody is in; on the page of one workspace, of that.
 * @param {string[]} names
 */
function press(...names) {
  const hasCards = document.querySelector(".card") !== null;
  const inside = document.activeElement?.closest(".card") ?? (hasCards ? null : document.querySelector("main"));
  const selector = names.map((name) => `[data-key="${name}"]`).join();
  /** @type {HTMLElement | null | undefined} */ (inside?.querySelector(selector))?.click();
}
