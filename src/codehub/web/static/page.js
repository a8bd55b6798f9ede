// What every page does for somebody who is logged in. Without it, links and forms do the same with whole pages.
import "./dialogs.js";
import "./forms.js";
import "./menus.js";
import "./shortcuts.js";
import { follow } from "./live.js";
import { narrowAtOnce } from "./narrowing.js";

// The server writes times in the reader's own time zone once it knows it.
const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone);
document.cookie = `codehub-zone=${zone}; path=/; max-age=31536000; samesite=lax`;

const live = document.querySelectorAll("[data-live]");
if (live.length) follow(live);
const narrowing = document.querySelector("[data-narrow]");
if (narrowing) narrowAtOnce(narrowing);
