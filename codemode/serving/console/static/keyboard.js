// Keys of every page: "/" goes to the search field, "j" and "k" move between rows, Enter opens a row, "?" lists the keys.
// A page binds its own keys with `bind`. All of them can be turned off (WCAG 2.1.4).

const OFF = "codemode-shortcuts-off";
const bound = new Map();

/** Call `action(event)` when a key is pressed outside of fields. */
export function bind(key, action) {
  bound.set(key, action);
}

function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

function rows() {
  return [...document.querySelectorAll("[data-rows] tbody tr, li[data-row]")].filter((row) => row.querySelector("a"));
}

/** Return the row that has the focus, or null. */
export function currentRow() {
  return rows().find((row) => row.contains(document.activeElement)) ?? null;
}

function move(step) {
  const all = rows();
  const at = all.indexOf(currentRow());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.querySelector("a")?.focus();
}

bind("j", () => move(1));
bind("k", () => move(-1));
bind("/", () => document.querySelector('input[type="search"]')?.focus());
bind("?", () => document.querySelector('footer a[href$="/shortcuts"]')?.click());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
  if (localStorage.getItem(OFF)) return;
  const action = bound.get(event.key);
  if (action) {
    event.preventDefault();
    action(event);
  }
});

const box = document.querySelector("#shortcuts-off");
if (box) {
  box.checked = Boolean(localStorage.getItem(OFF));
  box.addEventListener("change", () => (box.checked ? localStorage.setItem(OFF, "1") : localStorage.removeItem(OFF)));
}
