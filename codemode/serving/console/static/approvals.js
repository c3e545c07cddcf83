// Keys of a card: "a" and "d" go to a button, which names the tool, and Enter presses it.

import { bind } from "./keyboard.js";

for (const button of document.querySelectorAll("button[data-key]")) bind(button.dataset.key, () => button.focus());
