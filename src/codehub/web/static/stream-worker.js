// One stream for all tabs of a browser. It ends with the last of them.
import { listen } from "./stream.js";

/** @type {Set<MessagePort>} */
const tabs = new Set();
let end = () => {};
/** @type {import("./stream.js").News | null} */
let last = null;

self.addEventListener("connect", (event) => {
  const [tab] = /** @type {MessageEvent} */ (event).ports;
  tabs.add(tab);
  tab.onmessage = () => {
    tabs.delete(tab);
    if (tabs.size === 0) end();
  };
  if (tabs.size === 1) end = listen(tell);
  else if (last) tab.postMessage(last);
});

/** @param {import("./stream.js").News} news */
function tell(news) {
  last = news.kind === "changed" ? last : news;
  for (const tab of tabs) tab.postMessage(news);
}
