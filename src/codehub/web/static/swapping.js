// Puts newer markup in the place of older. What has not changed is left alone; what the reader has done to it stays:
// where the focus is, which menus are open, what is ticked, and what is on its way out.

const KEPT_CLASSES = ["leaving", "sending"];

/**
 * @param {HTMLElement} older
 * @param {HTMLElement} newer
 */
export function swap(older, newer) {
  keepingFocus(() => merge(older, newer));
}

/**
 * What is in the one goes into the other, which stays itself.
 * @param {HTMLElement} older
 * @param {HTMLElement} newer
 */
export function swapInside(older, newer) {
  keepingFocus(() => inside(older, newer));
}

/** @param {() => void} change */
function keepingFocus(change) {
  const hadFocus = /** @type {HTMLElement | null} */ (document.activeElement);
  const key = keyOf(hadFocus);
  change();
  if (document.activeElement === hadFocus || !key) return;
  if (hadFocus?.isConnected) hadFocus.focus();
  else /** @type {HTMLElement | null} */ (find(key))?.focus();
}

/**
 * @param {Element} older
 * @param {Element} newer
 */
function merge(older, newer) {
  if (older.isEqualNode(newer)) return;
  if (older.tagName !== newer.tagName) {
    older.replaceWith(document.adoptNode(newer));
    return;
  }
  attributes(older, newer);
  inside(older, newer);
}

/**
 * @param {Element} older
 * @param {Element} newer
 */
function inside(older, newer) {
  if (!newer.children.length || !older.children.length) {
    if (older.innerHTML !== newer.innerHTML) older.replaceChildren(...adopted(newer));
    return;
  }
  children(older, newer);
}

/**
 * @param {Element} older
 * @param {Element} newer
 */
function children(older, newer) {
  /** @type {Map<string, Element>} */
  const named = new Map();
  for (const child of older.children) named.set(nameOf(child, named), child);
  /** @type {Map<string, Element>} */
  const seen = new Map();
  const put = [];
  for (const child of newer.childNodes) {
    if (!(child instanceof Element)) {
      put.push(document.importNode(child, true));
      continue;
    }
    const name = nameOf(child, seen);
    seen.set(name, child);
    const there = named.get(name);
    if (there && there.tagName === child.tagName) {
      merge(there, child);
      put.push(there);
    } else put.push(document.importNode(child, true));
  }
  const isSame = put.length === older.childNodes.length && put.every((node, at) => same(older.childNodes[at], node));
  if (!isSame) older.replaceChildren(...put);
}

/**
 * @param {Node} one
 * @param {Node} other
 */
function same(one, other) {
  return one === other || (one.nodeType === Node.TEXT_NODE && one.isEqualNode(other));
}

/**
 * @param {Element} older
 * @param {Element} newer
 */
function attributes(older, newer) {
  const kept = KEPT_CLASSES.filter((name) => older.classList.contains(name));
  const isOpen = older.tagName === "DETAILS" && older.hasAttribute("open");
  for (const { name } of [...older.attributes]) if (!newer.hasAttribute(name)) older.removeAttribute(name);
  for (const { name, value } of newer.attributes) if (older.getAttribute(name) !== value) older.setAttribute(name, value);
  older.classList.add(...kept);
  if (isOpen) older.setAttribute("open", "");
}

/** @param {Element} newer */
function adopted(newer) {
  return [...newer.childNodes].map((node) => document.importNode(node, true));
}

/**
 * By what a child is known among its siblings: its id, its key, or the how manieth of its kind it is.
 * @param {Element} child
 * @param {Map<string, Element>} before
 */
function nameOf(child, before) {
  const own = child.id || child.getAttribute("data-key");
  if (own) return own;
  const kind = `${child.tagName}.${child.className}`;
  let number = 0;
  while (before.has(`${kind}#${number}`)) number += 1;
  return `${kind}#${number}`;
}

/** @param {Element | null} element */
function keyOf(element) {
  const key = element?.getAttribute("data-key");
  const place = element?.closest(".card, [data-live]")?.id ?? "";
  return key ? { key, place } : null;
}

/** @param {{ key: string, place: string }} of */
function find({ key, place }) {
  return document.getElementById(place)?.querySelector(`[data-key="${CSS.escape(key)}"]`);
}
