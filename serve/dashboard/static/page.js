// Leaves empty fields out of the address, so that a shared link says only what was chosen.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  for (const field of event.target.elements) {
    if (field.name && field.value === "") field.disabled = true;
  }
});
// A page that comes back from the history must have its fields again.
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form :disabled")) field.disabled = false;
});
