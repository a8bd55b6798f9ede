// The log of a workspace while it is printed: followed as far as somebody looks at it, searched, and kept at its end.

const MOST_LINES = 2000;
const AGAIN_MILLISECONDS = 3000;
const NEAR_PIXELS = 24;
// What colours a terminal and moves its cursor.
const ESCAPES = /\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])|\r/g;

const box = /** @type {HTMLElement | null} */ (document.querySelector("[data-log]"));
if (box) watch(box);

/** @param {HTMLElement} log */
function watch(log) {
  const tools = /** @type {HTMLFormElement} */ (document.querySelector("[data-log-tools]"));
  const search = /** @type {HTMLInputElement} */ (tools.querySelector("input[type=search]"));
  const follows = /** @type {HTMLInputElement} */ (tools.querySelector("[data-follow]"));
  let sought = search.value.toLowerCase();
  let isAsleep = false;
  /** @type {AbortController | null} */
  let reading = null;

  tools.querySelector("button")?.setAttribute("hidden", "");
  follows.closest("label")?.removeAttribute("hidden");
  tools.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", () => {
    sought = search.value.toLowerCase();
    for (const line of log.children) mark(/** @type {HTMLElement} */ (line), sought);
    tell();
  });
  log.addEventListener("scroll", () => {
    follows.checked = log.scrollTop + log.clientHeight >= log.scrollHeight - NEAR_PIXELS;
  });
  follows.addEventListener("change", stay);
  document.addEventListener("visibilitychange", () => (document.hidden ? reading?.abort() : read()));
  read();

  async function read() {
    if (document.hidden || reading) return;
    reading = new AbortController();
    try {
      const answer = await fetch(log.dataset.log ?? "", { signal: reading.signal, cache: "no-store" });
      isAsleep = !answer.ok;
      log.replaceChildren();
      tell();
      if (answer.ok && answer.body) await take(answer.body.pipeThrough(new TextDecoderStream()).getReader());
      else await answer.text(); // what nobody reads keeps a connection, of which a browser has six
    } catch {
      // cut off, by us or by the network: what follows is asked for again
    }
    reading = null;
    setTimeout(read, AGAIN_MILLISECONDS);
  }

  /** @param {ReadableStreamDefaultReader<string>} pieces */
  async function take(pieces) {
    let rest = "";
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return;
      const lines = (rest + value).replace(ESCAPES, "").split("\n");
      rest = lines.pop() ?? "";
      for (const text of lines) log.append(mark(Object.assign(document.createElement("div"), { textContent: text }), sought));
      while (log.childElementCount > MOST_LINES) log.firstElementChild?.remove();
      tell();
      stay();
    }
  }

  function stay() {
    if (follows.checked) log.scrollTop = log.scrollHeight;
  }

  function tell() {
    const matches = log.querySelectorAll("div:not([hidden])").length;
    const none = isAsleep ? "asleep" : matches ? "" : log.childElementCount ? "unmatched" : "empty";
    for (const each of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-log-none]"))) {
      each.hidden = each.dataset.logNone !== none;
    }
    log.hidden = !matches;
  }
}

/**
 * Shown if it holds what is looked for, which is marked in it.
 * @param {HTMLElement} line
 * @param {string} sought in small letters
 */
function mark(line, sought) {
  const text = line.textContent ?? "";
  const small = text.toLowerCase();
  const pieces = [];
  let from = 0;
  for (let at = sought ? small.indexOf(sought) : -1; at >= 0; at = small.indexOf(sought, from)) {
    pieces.push(text.slice(from, at), Object.assign(document.createElement("mark"), { textContent: text.slice(at, at + sought.length) }));
    from = at + sought.length;
  }
  line.hidden = sought !== "" && pieces.length === 0;
  line.replaceChildren(...pieces, text.slice(from));
  return line;
}
