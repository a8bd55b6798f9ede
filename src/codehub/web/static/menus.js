// Menus are `details`, which open by themselves. They close with Escape, and when somebody goes elsewhere.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details[data-menu][open]");
  if (!open) return;
  open.removeAttribute("open");
  open.querySelector("summary")?.focus();
});

for (const happening of ["click", "focusin"]) {
  document.addEventListener(happening, (event) => {
    for (const open of document.querySelectorAll("details[data-menu][open]")) {
      if (!open.contains(/** @type {Node} */ (event.target))) open.removeAttribute("open");
    }
  });
}
