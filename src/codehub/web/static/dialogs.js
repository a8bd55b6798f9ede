// Links with `data-dialog` lead to a page that asks something. Its question is shown over this page instead.
import { ask, parsed } from "./asking.js";
import { failed } from "./toasts.js";

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("dialog"));

document.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("[data-close]") && isIn(target)) {
    event.preventDefault();
    close();
  }
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest("a[data-dialog]"));
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("details")?.removeAttribute("open");
  lead(link.href);
});

/**
 * To a page that asks something, here if it can be.
 * @param {string} address
 */
export async function lead(address) {
  try {
    const content = parsed(await (await ask(address)).text()).querySelector("[data-dialog-content]");
    if (content) show(content);
    else location.assign(address);
  } catch {
    failed();
  }
}

/** @param {Element} content */
export function show(content) {
  dialog.replaceChildren(document.adoptNode(content));
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("[aria-invalid], [autofocus]");
  if (first) /** @type {HTMLElement} */ (first).focus();
}

export function close() {
  dialog.close();
}

export function isOpen() {
  return dialog.open;
}

/** @param {Element} element */
export function isIn(element) {
  return dialog.contains(element);
}

// It is told with a frame, when something else may be shown already.
dialog?.addEventListener("close", () => dialog.open || dialog.replaceChildren());
