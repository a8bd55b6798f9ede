// Keeps the list as the server sees it: hears which workspaces have changed, and asks for those that are shown here.
import { ask, parsed } from "./asking.js";
import { listen } from "./stream.js";
import { swap } from "./swapping.js";

const GATHER_MILLISECONDS = 250;
const AGAIN_MILLISECONDS = 2000;

/** @type {HTMLElement | null} */
let list = null;
/** @type {Set<string>} */
const waiting = new Set();
let wantsAll = false;
let isAsking = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {HTMLElement} shown */
export function follow(shown) {
  list = shown;
  hear();
  setInterval(() => refresh(timed()), Number(shown.dataset.refreshSeconds) * 1000);
  document.addEventListener("visibilitychange", gather);
  addEventListener("popstate", () => refresh());
}

/**
 * Ask for these again; without any, for all that this address shows.
 * @param {string[]} [ids]
 */
export function refresh(ids) {
  if (!list) return;
  if (ids) ids.forEach((id) => waiting.add(id));
  else wantsAll = true;
  gather();
}

/**
 * Show what another address of the same page shows.
 * @param {string} address
 */
export function goTo(address) {
  history.replaceState(null, "", address);
  refresh();
}

function hear() {
  const offline = /** @type {HTMLElement} */ (document.getElementById("offline"));
  const told = (/** @type {import("./stream.js").News} */ news) => {
    if (news.kind === "stranger") location.reload();
    offline.hidden = news.kind !== "lost";
    if (news.kind === "all") refresh();
    if (news.kind === "changed") refresh(news.ids);
  };
  if (!("SharedWorker" in window)) {
    listen(told);
    return;
  }
  const worker = new SharedWorker("/static/stream-worker.js", { type: "module", name: "codehub" });
  worker.port.onmessage = (event) => told(event.data);
  addEventListener("pagehide", () => worker.port.postMessage("bye"));
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

function gather() {
  const hasWork = wantsAll || waiting.size > 0;
  if (hasWork && !timer && !isAsking && !document.hidden) timer = setTimeout(put, GATHER_MILLISECONDS);
}

async function put() {
  timer = undefined;
  isAsking = true;
  const ids = [...waiting];
  const whole = wantsAll || ids.some((id) => !card(id));
  waiting.clear();
  wantsAll = false;
  let pause = 0;
  try {
    await (whole ? putAll() : putSome(ids));
  } catch {
    wantsAll = true;
    pause = AGAIN_MILLISECONDS;
  }
  setTimeout(() => {
    isAsking = false;
    gather();
  }, pause);
}

async function putAll() {
  const page = await markup(`/fragments/list${location.search}`);
  swap(/** @type {HTMLElement} */ (list), page.body);
}

/** @param {string[]} ids */
async function putSome(ids) {
  const said = new URLSearchParams(location.search);
  said.set("ids", ids.join(","));
  const page = await markup(`/fragments/cards?${said}`);
  for (const id of ids) {
    const newer = page.getElementById(`w-${id}`);
    const older = card(id);
    if (newer && older) swap(older, newer);
    else wantsAll = true; // it is no longer what this address shows
  }
}

/** @param {string} address */
async function markup(address) {
  const answer = await ask(address);
  if (!answer.ok) throw new Error(String(answer.status));
  return parsed(await answer.text());
}

/** @param {string} id */
function card(id) {
  return document.getElementById(`w-${id}`);
}

/** What changes by the clock alone. */
function timed() {
  return [...document.querySelectorAll("[data-timed]")].map((each) => /** @type {HTMLElement} */ (each).dataset.id ?? "");
}
