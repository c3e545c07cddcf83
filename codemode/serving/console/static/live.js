// Parts of a page that follow the server: `data-live` parts are replaced when they have changed, unless a person is at
// work in them. The number of calls that wait stands in the navigation and in the title, and a person may be notified.

const LOOK_AGAIN_MS = 5000;

/** Return the fresh page, or null if the server does not give it. */
async function freshPage() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "HX-Request": "true" } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

function isBusy(part) {
  const active = document.activeElement;
  return part.querySelector("input:checked, details[open]") || (part.contains(active) && active.matches("input, textarea, button, select"));
}

/** Replace the live parts. A part with `data-ids` is the same as long as these are. */
async function refresh() {
  const parts = [...document.querySelectorAll("[data-live-part]")];
  if (!parts.length || document.hidden) return;
  const page = await freshPage();
  if (!page) return;
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    if (!fresh || ("ids" in part.dataset ? fresh.dataset.ids === part.dataset.ids : fresh.innerHTML === part.innerHTML)) continue;
    if (isBusy(part)) {
      const news = document.querySelector("#news");
      if (news) news.textContent = "The list has changed. Reload the page to see it.";
      continue;
    }
    const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    part.replaceWith(fresh);
    if (focused) [...fresh.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
  }
}

const SEEN = "codemode-seen-calls";

/** Show how many calls wait, and notify of new ones. */
async function count(badge) {
  const answer = await fetch(badge.dataset.watch, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const { waiting, calls } = await answer.json();
  badge.textContent = waiting;
  badge.hidden = !waiting;
  document.title = `${waiting ? `(${waiting}) ` : ""}${document.title.replace(/^\(\d+\+?\) /, "")}`;
  const seen = JSON.parse(localStorage.getItem(SEEN) ?? "null");
  const fresh = seen === null ? [] : calls.filter((call) => !seen.includes(call.id)); // at the first look nothing is news
  localStorage.setItem(SEEN, JSON.stringify(calls.map((call) => call.id)));
  if (!fresh.length || !("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  const text = fresh.length === 1 ? `${fresh[0].tool} waits for a decision` : `${fresh.length} calls wait for a decision`;
  const note = new Notification("codemode", { body: text, tag: "codemode-approvals" });
  note.onclick = () => {
    window.focus();
    location.href = badge.closest("a").href;
  };
}

const badge = document.querySelector("#waiting");
const quietly = (action) => action().catch(() => {});
setInterval(() => quietly(refresh), LOOK_AGAIN_MS);
if (badge) setInterval(() => quietly(() => count(badge)), LOOK_AGAIN_MS);

const ask = document.querySelector("#notify");
const ANSWERS = {
  granted: "This browser tells you of new calls while this tab is in the background.",
  denied: "This browser does not let the console notify you: change that in its settings for this site.",
};

/** Show the button until a person has answered, then what they answered. */
function showPermission() {
  ask.hidden = Notification.permission in ANSWERS;
  document.querySelector("#notified").textContent = ANSWERS[Notification.permission] ?? "";
}

if (ask && "Notification" in window) {
  showPermission();
  ask.addEventListener("click", async () => {
    await Notification.requestPermission();
    showPermission();
  });
}
