// The command palette: the server finds what fits the words, the arrows choose among it, Enter does it. The focus stays
// in the field; a screen reader is told which one is chosen (the combobox pattern).
import { ask, parsed } from "./asking.js";
import { close, lead, show } from "./dialogs.js";
import { failed } from "./toasts.js";

const PAUSE_MILLISECONDS = 120;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let asked = 0;

for (const button of document.querySelectorAll("[data-palette]")) {
  /** @type {HTMLElement} */ (button).hidden = false;
  button.addEventListener("click", openPalette);
}

/** At once, so that whoever types on types into it; what can be done comes from the server a moment later. */
export function openPalette() {
  if (field()) return;
  const sheet = /** @type {HTMLTemplateElement} */ (document.getElementById("palette-sheet"));
  show(/** @type {Element} */ (document.importNode(sheet.content, true).firstElementChild));
  find();
}

document.addEventListener("input", (event) => {
  if (event.target !== field()) return;
  clearTimeout(timer);
  timer = setTimeout(find, PAUSE_MILLISECONDS);
});

document.addEventListener("keydown", (event) => {
  if (event.target !== field() || event.isComposing) return;
  const all = options();
  const at = all.findIndex((each) => each.ariaSelected === "true");
  const steps = /** @type {Record<string, number>} */ ({ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 });
  if (event.key in steps) choose(steps[event.key]);
  else if (event.key === "Enter") doIt(all[at]);
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const option = /** @type {HTMLElement} */ (event.target).closest("#commands [role=option]");
  if (option) doIt(/** @type {HTMLElement} */ (option));
});

/** What was asked for before the newest words is of no use any more. */
async function find() {
  const number = (asked += 1);
  try {
    const answer = await ask(`/fragments/commands?${new URLSearchParams({ q: field()?.value ?? "" })}`);
    const found = parsed(await answer.text()).getElementById("found");
    if (number !== asked || !field()) return;
    if (!answer.ok || !found) throw new Error(String(answer.status));
    document.getElementById("found")?.replaceWith(document.adoptNode(found));
    field()?.setAttribute("aria-expanded", String(options().length > 0));
    choose(0);
  } catch {
    failed();
  }
}

/** @param {number} at counted from the end where it is less than nothing, and round and round. */
function choose(at) {
  const all = options();
  if (all.length === 0) {
    field()?.removeAttribute("aria-activedescendant");
    return;
  }
  const chosen = all[(at + all.length) % all.length];
  for (const each of all) each.ariaSelected = String(each === chosen);
  field()?.setAttribute("aria-activedescendant", chosen.id);
  chosen.scrollIntoView({ block: "nearest" });
}

/** @param {HTMLElement | undefined} option */
function doIt(option) {
  if (!option) return;
  const { goes, opens, asks, presses, action, of } = option.dataset;
  if (action && of) {
    const form = /** @type {HTMLFormElement} */ (document.getElementById("deed"));
    /** @type {HTMLInputElement} */ (form.elements.namedItem("action")).value = action;
    /** @type {HTMLInputElement} */ (form.elements.namedItem("ids")).value = of;
    form.requestSubmit();
    return;
  }
  if (asks) {
    lead(asks);
    return;
  }
  close();
  if (goes) location.assign(goes);
  if (opens) window.open(opens, "_blank", "noopener");
  if (presses) /** @type {HTMLElement | null} */ (document.querySelector(presses))?.click();
}

function field() {
  return /** @type {HTMLInputElement | null} */ (document.getElementById("palette"));
}

function options() {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#commands [role=option]")]);
}
