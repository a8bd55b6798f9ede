// The events of one browser, heard once: which workspaces have changed. What they are now, the pages ask for.

const AGAIN_MILLISECONDS = 2000;
const SILENCE_MILLISECONDS = 75000; // more than two heartbeats

/**
 * @typedef {{ kind: "changed", ids: string[] } | { kind: "all" | "lost" | "stranger" }} News
 * @param {(news: News) => void} tell
 * @returns {() => void} what ends it
 */
export function listen(tell) {
  /** @type {EventSource} */
  let events;
  /** @type {ReturnType<typeof setTimeout>} */
  let silence;
  let isOver = false;

  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(again, SILENCE_MILLISECONDS);
  };
  const again = () => {
    events.close();
    clearTimeout(silence);
    tell({ kind: "lost" });
    setTimeout(open, AGAIN_MILLISECONDS);
  };
  const changed = (/** @type {MessageEvent} */ event) => {
    heard();
    tell({ kind: "changed", ids: [JSON.parse(event.data).id.replaceAll("-", "")] });
  };
  const open = async () => {
    if (isOver) return;
    events = new EventSource("/api/v1/events");
    events.addEventListener("snapshot", (event) => {
      heard();
      if (JSON.parse(event.data).complete) tell({ kind: "all" });
    });
    for (const name of ["workspace_updated", "workspace_progress", "workspace_deleted"]) {
      events.addEventListener(name, changed);
    }
    events.addEventListener("heartbeat", heard);
    events.onerror = async () => {
      again();
      const me = await fetch("/api/v1/me").catch(() => null);
      if (me?.status === 401) tell({ kind: "stranger" });
    };
  };
  open();
  return () => {
    isOver = true;
    clearTimeout(silence);
    events.close();
  };
}
