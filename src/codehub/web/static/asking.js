// Requests to our own server. It answers with markup that it has made for this reader, so nothing is worded here.

const HEADERS = { "X-Requested-With": "fetch", Accept: "text/html" };

/**
 * @param {string} address
 * @returns {Promise<Response>}
 */
export async function ask(address) {
  return checked(await fetch(address, { headers: HEADERS, cache: "no-store" }));
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @returns {Promise<Response>}
 */
export async function send(form, submitter) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form, submitter)));
  // A field called action would hide the property of that name.
  const address = /** @type {string} */ (submitter?.getAttribute("formaction") ?? form.getAttribute("action"));
  return checked(await fetch(address, { method: "POST", headers: HEADERS, body }));
}

/** @param {string} markup */
export function parsed(markup) {
  return new DOMParser().parseFromString(markup, "text/html");
}

/**
 * Who is no longer logged in has to do that first.
 * @param {Response} answer
 */
function checked(answer) {
  if (answer.status === 401) location.reload();
  return answer;
}
