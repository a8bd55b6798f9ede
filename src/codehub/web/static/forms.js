// Forms with `data-send` are sent without leaving the page; what the server says of it becomes a toast, or comes back
// into the dialogue as the same form with what is wrong. What a `formaction` leads to is asked in a dialogue, too.
import { parsed, send } from "./asking.js";
import { close, isIn, show } from "./dialogs.js";
import { refresh } from "./live.js";
import { failed, toast } from "./toasts.js";

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!("send" in form.dataset) || hasItsOwnPage(form)) return;
  event.preventDefault();
  const submitter = /** @type {HTMLElement | null} */ (event.submitter);
  if (form.dataset.undoSeconds) later(form, submitter);
  else now(form, submitter);
});

/**
 * Such a one is sent as any other: what comes back is the page that follows, or the same one with what is wrong.
 * @param {HTMLFormElement} form
 */
function hasItsOwnPage(form) {
  return form.closest("[data-dialog-content]") && !isIn(form) && !form.dataset.undoSeconds;
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function now(form, submitter) {
  const ids = new FormData(form).getAll("ids").map(String);
  const cards = ids.map((id) => document.getElementById(`w-${id}`)).filter((card) => card !== null);
  for (const card of cards) card.classList.add("sending");
  form.closest(".toast")?.remove();
  try {
    const answer = await send(form, submitter);
    const markup = await answer.text();
    const again = parsed(markup).querySelector("[data-dialog-content]");
    if (again && (isIn(form) || submitter?.hasAttribute("formaction"))) show(again);
    else if (answer.ok) {
      if (isIn(form)) close();
      toast(markup);
      if ("reset" in form.dataset && !parsed(markup).querySelector(".toast.trouble")) form.reset();
    } else failed();
  } catch {
    failed();
  }
  for (const card of cards) card.classList.remove("sending");
  refresh(ids.length ? ids : undefined);
}

/**
 * Asked for only when the time to call it off is over. Whoever leaves the page before has not asked for it.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
function later(form, submitter) {
  const told = form.parentElement?.querySelector("template")?.innerHTML ?? "";
  const leaving = (form.dataset.leaving ?? "").split(" ").map((id) => document.getElementById(id));
  const milliseconds = Number(form.dataset.undoSeconds) * 1000;
  const shelf = /** @type {HTMLElement} */ (document.getElementById("toasts"));
  const notice = /** @type {HTMLElement} */ (parsed(told).querySelector(".toast"));
  if (isIn(form)) close();
  for (const each of leaving) each?.classList.add("leaving");
  shelf.append(notice);
  const timer = setTimeout(() => {
    notice.remove();
    now(form, submitter);
  }, milliseconds);
  notice.querySelector("[data-undo]")?.addEventListener("click", () => {
    clearTimeout(timer);
    notice.remove();
    for (const each of leaving) each?.classList.remove("leaving");
  });
}

document.addEventListener("change", (event) => {
  const box = /** @type {HTMLInputElement} */ (event.target);
  if (!("selectPage" in box.dataset)) return;
  for (const each of document.querySelectorAll("input[name=ids][form=bulk]")) {
    /** @type {HTMLInputElement} */ (each).checked = box.checked;
  }
});
