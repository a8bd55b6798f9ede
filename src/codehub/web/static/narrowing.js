// A search is done while somebody types, and a choice when it is made.
import { goTo } from "./live.js";

const PAUSE_MILLISECONDS = 250;

export function narrowAtOnce() {
  const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-narrow]"));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const go = () => {
    const said = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    goTo(`/?${said}`);
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
}
