// The calls of an execution as bars on one clock, drawn while the program runs. A lane holds the calls of one task.
// Tools, arguments and answers are foreign text: they are set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const ROW = 22;
const NAMES = [130, 280]; // the width of the names: a phone has little room
const TICKS = 6;
const TICK_WIDTH = 66; // room for the text of a tick
const FOLD = 5; // so many calls of one tool in a row are one row
const MOST_ROWS = 2000;
const TICK_MS = 250;
const LOOK_AGAIN_MS = 3000;

// The same colours and marks as in codemode/executions/types/waterfall.py.
const STATES = {
  committed: ["#2da44e", "✓"],
  read: ["#2da44e", "✓"],
  reused: ["#57ab5a", "↻"],
  running: ["#0969da", "…"],
  pending: ["#bf8700", "‖"],
  planned: ["#0969da", "◇"],
  unknown: ["#bf8700", "?"],
  failed: ["#cf222e", "✕"],
  denied: ["#cf222e", "⊘"],
  rejected: ["#cf222e", "⊘"],
};
const OTHER = ["#6e7781", "–"];
const WORST = ["failed", "denied", "rejected", "unknown", "pending", "running"];

/** Return text with invisible and reordering characters as escapes, as codemode/text/visible.py does. */
export function visible(text) {
  const unseen =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
  return String(text).replace(unseen, (found) => {
    const code = found.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });
}

/** Keep an integer that a double would round, such as an id of a service, as its digits. */
function exact(_, value, context) {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? (context?.source ?? value) : value;
}

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = visible(text);
  return made;
}

/** The calls by path, from the events of an execution. */
class Calls {
  byPath = new Map();

  started(event) {
    this.byPath.set(event.path, { ...event, state: "running", duration_s: null });
  }

  ended(event) {
    const call = { ...this.byPath.get(event.path), ...event };
    this.byPath.set(event.path, { ...call, state: event.reused ? "reused" : event.state });
  }

  /** Writes without an end, once the program no longer runs, have an unknown fate. Reads were given up. */
  stop(nowS) {
    for (const call of this.byPath.values()) {
      const state = call.effect === "read" ? "cancelled" : "unknown";
      if (call.duration_s === null) Object.assign(call, { state, duration_s: Math.max(0, nowS - call.start_s) });
    }
  }

  get runs() {
    return [...this.byPath.values()].some((call) => call.duration_s === null);
  }

  /** Return the calls task by task, each task in the order of its first call. */
  lanes() {
    const lanes = new Map();
    for (const call of this.byPath.values()) {
      const own = call.path.split("/")[0];
      const task = own.slice(0, Math.max(0, own.lastIndexOf(".")));
      if (!lanes.has(task)) lanes.set(task, []);
      lanes.get(task).push(call);
    }
    return [...lanes.values()];
  }
}

/** Return the last part of a tool's id. */
function shortTool(tool) {
  const dot = tool.lastIndexOf(".");
  return tool.slice(0, Math.max(dot, 0)).includes(".") ? `…${tool.slice(dot + 1)}` : tool;
}

/** Return how many seconds a call took, or takes until now. */
function lasting(call, nowS) {
  return call.duration_s ?? Math.max(0, nowS - call.start_s);
}

/** Return a short name of each call by its path, by the rules of codemode/executions/types/waterfall.py. */
export function labels(calls) {
  const byTool = Map.groupBy(calls, (call) => call.tool);
  const named = new Map();
  for (const [tool, several] of byTool) {
    const texts = several.map((call) => Object.fromEntries(Object.entries(call.arguments ?? {}).map(([name, value]) => [name, JSON.stringify(value)])));
    const names = [...new Set(texts.flatMap(Object.keys))].filter((name) => texts.length === 1 || new Set(texts.map((text) => text[name])).size > 1);
    const short = shortTool(tool);
    several.forEach((call, at) => {
      const differing = names.filter((name) => name in texts[at]).map((name) => `${name}=${texts[at][name]}`);
      named.set(call.path, `${short}(${differing.join(", ")})`);
    });
  }
  return named;
}

/** Return the seconds between two ticks of a clock that ends at `end`: 1, 2 or 5 times a power of ten. */
export function tickStep(end) {
  const power = 10 ** Math.floor(Math.log10(end / TICKS));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step * TICKS >= end * (1 - 1e-9));
}

/** Return the rows of a lane: calls of one tool in a row are one row, `path` names it, unless a person unfolded it. */
export function rowsOf(lane, unfolded) {
  const rows = [];
  for (let at = 0; at < lane.length; ) {
    let until = at + 1;
    while (until < lane.length && lane[until].tool === lane[at].tool) until += 1;
    const calls = lane.slice(at, until);
    at = until;
    const path = `×${calls[0].path}`;
    const isGroup = calls.length >= FOLD;
    if (isGroup) rows.push({ path, calls, isOpen: unfolded.has(path) });
    if (!isGroup || unfolded.has(path)) rows.push(...calls.map((call) => ({ path: call.path, calls: [call], isInner: isGroup })));
  }
  return rows;
}

/** Return the state that says most of several calls: the worst one, else one that goes on, else that of the first. */
function stateOf(calls) {
  const states = new Set(calls.map((call) => call.state));
  return WORST.find((state) => states.has(state)) ?? calls[0].state;
}

/** Return seconds as text, in the unit of a clock that ends at `end`. */
function seconds(value, end) {
  return end < 1 ? `${Number((value * 1000).toPrecision(4))} ms` : `${Number(value.toPrecision(4))} s`;
}

/** The picture. `onSelect(call)` is called when a person chooses a bar. A row of several calls unfolds. */
class Picture {
  #rows = new Map();
  #bands = [];
  #order = "";
  #unfolded = new Set();
  zoom = 1;

  constructor(holder, onSelect) {
    this.holder = holder;
    this.onSelect = onSelect;
    this.svg = element("svg", { role: "group", "aria-label": "The calls on one clock", "font-family": "monospace", "font-size": 12, fill: "currentColor" });
    this.head = element("text", { x: 2, y: 15, opacity: 0.8 });
    this.clock = element("g", { "aria-hidden": "true", "font-size": 11 });
    this.svg.append(this.clock, this.head);
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  draw(calls, nowS) {
    this.redraw = () => this.draw(calls, nowS);
    const lanes = calls.lanes().map((lane) => rowsOf(lane, this.#unfolded));
    const shown = lanes.flat().slice(0, MOST_ROWS);
    if (!shown.length) return;
    const end = Math.max(...[...calls.byPath.values()].map((call) => call.start_s + lasting(call, nowS)), 0.001);
    const names = Math.min(NAMES[1], Math.max(NAMES[0], Math.round(this.holder.clientWidth * 0.45)));
    const width = Math.max(this.holder.clientWidth - names - 8, 160) * this.zoom;
    const order = [names, ...shown.map((row) => `${row.path}${row.calls.length}${row.isOpen}`)].join(" ");
    this.names = names;
    if (order !== this.#order) this.#arrange(shown, lanes, order);
    for (const row of shown) this.#bars(row, nowS, width / end);
    for (const band of this.#bands) band.setAttribute("width", names + width);
    const height = ROW * (shown.length + 1);
    const more = lanes.flat().length - shown.length;
    this.#ticks(end, width, height);
    this.head.textContent = `${seconds(Number(end.toPrecision(3)), end)} in all${more ? `, ${more} more calls` : ""}`;
    for (const [name, value] of [["width", names + width], ["height", height], ["viewBox", `0 0 ${names + width} ${height}`]]) this.svg.setAttribute(name, value);
    if (!this.svg.isConnected) this.holder.replaceChildren(this.svg);
  }

  #ticks(end, width, height) {
    const scale = width / end;
    const step = tickStep(Math.max((end * TICKS * TICK_WIDTH) / width, end)); // as many as have room
    const marks = [];
    for (let number = 0; number * step <= end + 1e-9; number += 1) {
      const x = this.names + number * step * scale;
      marks.push(element("path", { d: `M${x} ${ROW}V${height}`, stroke: "currentColor", opacity: 0.2 }));
      if (x + TICK_WIDTH / 2 <= this.names + width) marks.push(element("text", { x, y: 15, "text-anchor": number ? "middle" : "start" }, seconds(number * step, end)));
    }
    this.clock.replaceChildren(...marks);
  }

  #arrange(shown, lanes, order) {
    this.#order = order;
    const named = labels([...new Set(shown.flatMap((row) => row.calls))]);
    const focused = document.activeElement;
    for (const band of this.#bands) band.remove();
    this.#bands = [];
    let place = 1;
    lanes.forEach((lane, number) => {
      if (number % 2) this.#bands.push(element("rect", { y: place * ROW, height: lane.length * ROW, opacity: 0.06 }));
      place += lane.length;
    });
    this.svg.prepend(...this.#bands);
    const old = new Set(this.#rows.keys());
    shown.forEach((one, at) => {
      const row = this.#row(one);
      old.delete(one.path);
      row.group.setAttribute("transform", `translate(0 ${(at + 1) * ROW})`);
      row.name = one.calls.length > 1 ? shortTool(one.calls[0].tool) : named.get(one.path);
      row.state = undefined; // so that its label is written again
      this.svg.append(row.group);
    });
    for (const path of old) {
      this.#rows.get(path).group.remove();
      this.#rows.delete(path);
    }
    if (!this.svg.querySelector('g[tabindex="0"]')) this.#rows.get(shown[0].path).group.setAttribute("tabindex", 0);
    if (this.svg.contains(focused)) focused.focus();
  }

  #row(one) {
    const known = this.#rows.get(one.path);
    if (known) return known;
    const row = { group: element("g", { role: "button", tabindex: -1, "data-path": one.path }), label: element("text", { x: 2, y: 15 }), bars: element("g") };
    row.group.append(element("rect", { width: "100%", height: ROW, opacity: 0 }), row.label, row.bars);
    row.group.addEventListener("click", () => this.#select(one.path));
    this.#rows.set(one.path, row);
    return row;
  }

  #bars(one, nowS, scale) {
    const row = this.#row(one);
    row.one = one;
    const boxes = new Map(); // of each colour: a group of a thousand calls is a few elements
    for (const call of one.calls) {
      const [colour] = STATES[call.state] ?? OTHER;
      const x = this.names + call.start_s * scale;
      boxes.set(colour, `${boxes.get(colour) ?? ""}M${x.toFixed(1)} 5h${Math.max(lasting(call, nowS) * scale, 2).toFixed(1)}v${ROW - 10}H${x.toFixed(1)}z`);
    }
    const drawn = [...boxes].map(([colour, d]) => `${colour} ${d}`).join();
    if (drawn !== row.drawn) row.bars.replaceChildren(...[...boxes].map(([fill, d]) => element("path", { fill, d, opacity: one.calls.length > 1 ? 0.7 : 1 })));
    row.drawn = drawn;
    this.#name(row, one);
  }

  #name(row, one) {
    const state = stateOf(one.calls);
    const key = `${state} ${one.calls.length} ${one.isOpen}`;
    if (row.state === key) return;
    row.state = key;
    const mark = (STATES[state] ?? OTHER)[1];
    const isGroup = one.path.startsWith("×");
    const before = isGroup ? `${one.isOpen ? "▾" : "▸"} ×${one.calls.length} ` : `${one.isInner ? "  " : ""}${mark} `;
    row.label.textContent = visible(`${before}${shortened(row.name, Math.floor(this.names / 8) - before.length)}`);
    row.group.setAttribute("data-state", state);
    const whole = isGroup ? `${one.calls.length} calls of ${one.calls[0].tool}` : `${one.calls[0].tool}${row.name.slice(row.name.indexOf("("))}`;
    row.group.setAttribute("aria-label", visible(`${row.label.textContent.trim()}: ${whole}, ${state}`));
    if (isGroup) row.group.setAttribute("aria-expanded", String(one.isOpen));
  }

  #key(event) {
    const groups = [...this.svg.querySelectorAll("g[data-path]")];
    const at = groups.indexOf(event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: groups.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") this.#select(event.target.dataset.path);
    else if (next === undefined || !groups[next]) return;
    else this.#focus(groups[next]);
    event.preventDefault();
  }

  #focus(group) {
    this.svg.querySelector('g[tabindex="0"]')?.setAttribute("tabindex", -1);
    group.setAttribute("tabindex", 0);
    group.focus();
  }

  #select(path) {
    const row = this.#rows.get(path);
    if (!row) return;
    this.#focus(row.group);
    if (!path.startsWith("×")) return this.onSelect(row.one.calls[0]);
    if (!this.#unfolded.delete(path)) this.#unfolded.add(path);
    this.redraw();
  }

  /** Return the picture as a file of its own. */
  file() {
    const copy = this.svg.cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("color", "#1c2128");
    copy.prepend(element("rect", { width: "100%", height: "100%", fill: "#fff" }));
    for (const group of copy.querySelectorAll("g[data-path]")) ["tabindex", "role"].forEach((name) => group.removeAttribute(name));
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  }
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** Show what is known of a call. */
function show(panel, call) {
  const facts = [
    ["Call", call.tool],
    ["State", call.state],
    ["Arguments", JSON.stringify(call.arguments ?? {}, null, 2)],
    ["Policy", [call.decision, call.rule].filter(Boolean).join(": ")],
    ["Began", `${call.start_s.toFixed(3)} s`],
    ["Took", call.duration_s === null ? "still running" : `${(call.duration_s * 1000).toFixed(1)} ms`],
    ["Answer", call.message || call.preview || ""],
    ["Size of the answer", call.size_bytes ? `${call.size_bytes} bytes` : ""],
    ["Answer of", call.reused ?? ""],
  ];
  const list = document.createElement("dl");
  for (const [name, value] of facts) {
    if (!value) continue;
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    text.textContent = visible(value);
    text.className = "foreign mono";
    list.append(term, text);
  }
  panel.replaceChildren(list);
  panel.hidden = false;
}

/** Follow the execution of a page: `holder` names its events, and whether it still runs. */
function follow(holder) {
  const page = document;
  const calls = new Calls();
  const picture = new Picture(holder, (call) => show(page.querySelector("#call"), call));
  const output = page.querySelector("#output");
  const state = page.querySelector("#live");
  let status = holder.dataset.status; // as the page shows it
  let isNew = holder.dataset.live === "true"; // events to come are not in the page yet
  let began = performance.now();
  let last = 0;
  let ticking = 0;

  const nowS = () => (performance.now() - began) / 1000;
  const redraw = () => picture.draw(calls, nowS());
  const on = (source, type, action) =>
    source.addEventListener(type, (event) => {
      const data = JSON.parse(event.data, exact);
      last = data.sequence ?? last;
      action(data);
    });

  function open() {
    const source = new EventSource(`${holder.dataset.events}?after=${last}`);
    on(source, "call_started", (data) => {
      began = Math.min(began, performance.now() - data.start_s * 1000);
      calls.started(data);
    });
    on(source, "call_ended", (data) => calls.ended(data));
    on(source, "output", (data) => {
      output.closest("section").hidden = false;
      if (isNew) output.append(visible(data.text));
    });
    on(source, "closed", (data) => {
      source.close();
      stop(data.message);
    });
    on(source, "status", (data) => {
      source.close();
      redraw();
      isNew = true;
      if (data.status !== status) reload();
      status = data.status;
      if (data.status === "paused") {
        addWaiting();
        setTimeout(open, LOOK_AGAIN_MS);
      } else stop("");
    });
  }

  function stop(message) {
    clearInterval(ticking);
    calls.stop(nowS());
    redraw();
    if (message) state.textContent = visible(message);
  }

  /** Draw the calls that wait for a person: they have not begun, so there is no event of them. */
  async function addWaiting() {
    const answer = await fetch(`${location.pathname}?format=json`);
    if (!answer.ok) return;
    for (const call of JSON.parse(await answer.text(), exact).calls) if (!calls.byPath.has(call.path)) calls.byPath.set(call.path, call);
    redraw();
  }

  /** Replace the parts of the page that the server knows better now. */
  async function reload() {
    const answer = await fetch(location.href, { headers: { Accept: "text/html", "HX-Request": "true" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of page.querySelectorAll("[data-fresh]")) {
      const replacement = fresh.getElementById(part.id);
      if (replacement) part.replaceWith(replacement);
    }
  }

  ticking = setInterval(redraw, TICK_MS);
  open();
  for (const button of page.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      picture.zoom = button.dataset.zoom === "in" ? Math.min(picture.zoom * 2, 64) : Math.max(picture.zoom / 2, 1);
      redraw();
    });
  }
  page.querySelector("#save-svg").addEventListener("click", () => {
    const link = page.createElement("a");
    link.href = URL.createObjectURL(picture.file());
    link.download = `${holder.dataset.execution}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), LOOK_AGAIN_MS);
  });
  page.querySelector("#tools").hidden = false;
  addEventListener("resize", redraw);
}

const holder = document.querySelector("#waterfall");
if (holder) follow(holder);
