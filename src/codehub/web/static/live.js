// Keeps parts of a page as the server sees them: hears which workspaces have changed, and asks for what shows them.
//
// `data-live` is where the markup of an element comes from; elements with the same address are asked for together, and
// each takes what has its id. `data-refresh-seconds` says how often what changes by the clock is asked for, `data-id`
// of which workspace it tells (without one, of any). With `data-query` the query of the page is part of the address;
// with `data-pieces`, single workspaces are asked for there instead of all.
import { ask, parsed } from "./asking.js";
import { tellInTitle } from "./news.js";
import { listen } from "./stream.js";
import { swap, swapInside } from "./swapping.js";

const GATHER_MILLISECONDS = 250;
const AGAIN_MILLISECONDS = 2000;

/** @type {Part[]} */
let parts = [];

/** @param {Iterable<HTMLElement>} elements */
export function follow(elements) {
  /** @type {Map<string, HTMLElement[]>} */
  const byAddress = new Map();
  for (const each of elements) {
    const address = /** @type {string} */ (each.dataset.live);
    byAddress.set(address, [...(byAddress.get(address) ?? []), each]);
  }
  parts = [...byAddress].map(([address, those]) => new Part(address, those));
  hear();
  document.addEventListener("visibilitychange", () => parts.forEach((part) => part.gather()));
  addEventListener("popstate", () => refresh());
}

/**
 * Ask again for what shows these workspaces; without any, for all of this page.
 * @param {string[]} [ids]
 */
export function refresh(ids) {
  for (const part of parts) part.want(ids);
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
    if (news.kind === "changed") {
      refresh(news.ids);
      tellInTitle(news.ids);
    }
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

/** What comes from one address. It is asked for by one request at a time, and only while somebody can see it. */
class Part {
  /**
   * @param {string} address
   * @param {HTMLElement[]} elements
   */
  constructor(address, elements) {
    const { id, pieces, query, refreshSeconds } = elements[0].dataset;
    this.address = address;
    this.elements = elements;
    this.id = id;
    this.pieces = pieces;
    this.hasQuery = query !== undefined;
    /** @type {Set<string>} */
    this.waiting = new Set();
    this.wantsAll = false;
    this.isAsking = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    if (refreshSeconds) setInterval(() => this.want(pieces ? timed() : undefined), Number(refreshSeconds) * 1000);
  }

  /** @param {string[]} [ids] */
  want(ids) {
    if (!ids) this.wantsAll = true;
    else if (this.pieces) ids.forEach((id) => this.waiting.add(id));
    else if (this.id ? ids.includes(this.id) : ids.length > 0) this.wantsAll = true;
    this.gather();
  }

  gather() {
    const hasWork = this.wantsAll || this.waiting.size > 0;
    if (!hasWork || this.timer || this.isAsking || document.hidden) return;
    this.timer = setTimeout(() => this.put(), GATHER_MILLISECONDS);
  }

  async put() {
    this.timer = undefined;
    this.isAsking = true;
    const ids = [...this.waiting];
    const whole = this.wantsAll || ids.some((id) => !card(id));
    this.waiting.clear();
    this.wantsAll = false;
    let pause = 0;
    try {
      await (whole ? this.putAll() : this.putSome(ids));
    } catch {
      this.wantsAll = true;
      pause = AGAIN_MILLISECONDS;
    }
    setTimeout(() => {
      this.isAsking = false;
      this.gather();
    }, pause);
  }

  async putAll() {
    const page = await markup(this.address + (this.hasQuery ? location.search : ""));
    for (const each of this.elements) swapInside(each, page.getElementById(each.id) ?? page.body);
  }

  /** @param {string[]} ids */
  async putSome(ids) {
    const said = new URLSearchParams(location.search);
    said.set("ids", ids.join(","));
    const page = await markup(`${this.pieces}?${said}`);
    for (const id of ids) {
      const newer = page.getElementById(`w-${id}`);
      const older = card(id);
      if (newer && older) swap(older, newer);
      else this.wantsAll = true; // it is no longer what this address shows
    }
  }
}

/** @param {string} address */
async function markup(address) {
  const answer = await ask(address);
  if (answer.status === 404) location.reload(); // what the page is about is gone, and the page says so
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
