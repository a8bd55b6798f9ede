// While nobody looks at this tab, its title says what has come to an end; when somebody looks again, it is as before.
import { ask, parsed } from "./asking.js";

const GATHER_MILLISECONDS = 500;
const title = document.title;

/** What each workspace was when that was last known: `busy`, or what it rests as. @type {Map<string, string>} */
const known = new Map();
/** @type {Set<string>} */
const waiting = new Set();
/** @type {Set<string>} */
const ended = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

document.addEventListener("visibilitychange", () => {
  ended.clear();
  document.title = title;
  for (const each of document.querySelectorAll("[data-id][data-tone]")) {
    const { id, tone } = /** @type {HTMLElement} */ (each).dataset;
    known.set(id ?? "", tone ?? "");
  }
});

/** @param {string[]} ids of what has changed */
export function tellInTitle(ids) {
  if (!document.hidden) return;
  for (const id of ids) waiting.add(id);
  timer ??= setTimeout(tell, GATHER_MILLISECONDS);
}

async function tell() {
  const ids = [...waiting].join();
  waiting.clear();
  timer = undefined; // what changes from now on is asked for again
  const answer = await ask(`/fragments/news?${new URLSearchParams({ ids })}`).catch(() => null);
  if (!answer?.ok || !document.hidden) return;
  for (const each of parsed(await answer.text()).querySelectorAll("[data-state]")) {
    const { id = "", state = "" } = /** @type {HTMLElement} */ (each).dataset;
    const before = known.get(id);
    known.set(id, state);
    if (before === undefined || before === state || state === "busy") continue;
    ended.add(id);
    document.title = `(${ended.size}) ${each.textContent}`;
  }
}
