// A search is done while somebody types, and a choice when it is made.
import { goTo } from "./live.js";

const PAUSE_MILLISECONDS = 250;

/** @param {HTMLFormElement} form */
export function narrowAtOnce(form) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const go = () => {
    const said = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    goTo(`${form.getAttribute("action")}?${said}`);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(go, PAUSE_MILLISECONDS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    go();
  });
  if (isTouched(form)) go();
}

/**
 * Whether somebody was faster than this script.
 * @param {HTMLFormElement} form
 */
function isTouched(form) {
  const texts = [...form.querySelectorAll("input")].some((each) => each.value !== each.defaultValue);
  const choices = [...form.querySelectorAll("select")].some(
    (each) => each.value !== (each.querySelector("[selected]") ?? each.options[0]).getAttribute("value"),
  );
  return texts || choices;
}
