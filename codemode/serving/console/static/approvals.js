// Keys of a card: "a" and "d" go to a button, which names the tool, and Enter presses it. The inbox looks for new calls.

import { bind } from "./keyboard.js";

const LOOK_AGAIN_MS = 5000;

for (const button of document.querySelectorAll("button[data-key]")) bind(button.dataset.key, () => button.focus());

/** Replace the inbox if it has changed, unless a person is choosing in it. */
async function refresh() {
  const inbox = document.querySelector("#inbox");
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "HX-Request": "true" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("#inbox");
  if (!fresh || fresh.dataset.ids === inbox.dataset.ids) return;
  document.title = page.title;
  if (inbox.querySelector("input:checked") || inbox.contains(document.activeElement)) {
    document.querySelector("#news").textContent = "The list has changed. Reload the page to see it.";
  } else {
    inbox.replaceWith(fresh);
  }
}

if (document.querySelector("#inbox")) setInterval(() => refresh().catch(() => {}), LOOK_AGAIN_MS);
