// What happened, said at the edge of the page for a while: longer where something can be done about it.
import { parsed } from "./asking.js";

const MILLISECONDS = 8000;
const shelf = /** @type {HTMLElement} */ (document.getElementById("toasts"));

/** @param {string} markup */
export function toast(markup) {
  for (const each of parsed(markup).querySelectorAll(".toast")) keep(/** @type {HTMLElement} */ (each));
}

/** Something that nobody has answered. */
export function failed() {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById("failed"));
  toast(template.innerHTML);
}

/**
 * A toast stays while somebody points at it or is in it.
 * @param {HTMLElement} each
 */
function keep(each) {
  shelf.append(each);
  const leave = () => (each.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : each.remove());
  setTimeout(leave, MILLISECONDS);
}

shelf?.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("[data-dismiss]")) target.closest(".toast")?.remove();
});
