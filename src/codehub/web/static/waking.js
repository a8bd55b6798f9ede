// Wakes the workspace when somebody looks at this page, shows how far it is, and gives way to it when it runs.
"use strict";

const page = document.getElementById("waking");
const summary = document.getElementById("summary");
const detail = document.getElementById("detail");
const bar = document.getElementById("progress");
const desk = page.dataset.desk;
// Where it should run but does not answer, the database is ahead of what can be seen: to hurry would only flicker.
const PAUSE = page.dataset.unreachable === "yes" ? 1500 : 0;
// How soon codehub is asked again where it, or a proxy before it, could not answer. Not by loading this page again: it
// would be an error then, and nothing on that asks again.
const AWAY = 2000;

let isWoken = page.dataset.asleep === "no";
document.getElementById("wake").hidden = true;

function again(milliseconds) {
  setTimeout(() => location.reload(), milliseconds);
}

// A tab that a browser restores in the background is nobody's wish.
async function wake() {
  if (isWoken || document.visibilityState !== "visible") return;
  isWoken = true;
  const answer = await fetch(`${desk}/wake`, { method: "POST", headers: { Accept: "application/json" } }).catch(() => null);
  if (answer === null || answer.status >= 500) {
    isWoken = false;
    setTimeout(wake, AWAY);
  } else if (!answer.ok) {
    again(answer.status === 429 || answer.status === 409 ? 0 : AWAY);
  }
}

function show(state) {
  summary.textContent = state.summary;
  detail.textContent = state.detail;
  if (state.bytes !== null && state.total) {
    bar.max = state.total;
    bar.value = state.bytes;
  } else {
    bar.removeAttribute("value");
  }
}

function follow() {
  const events = new EventSource(`${desk}/events`);
  events.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    if (state.is_ready || state.is_over) {
      events.close();
      again(PAUSE);
    } else {
      show(state);
    }
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, AWAY);
  });
}

document.addEventListener("visibilitychange", wake);
wake();
follow();
