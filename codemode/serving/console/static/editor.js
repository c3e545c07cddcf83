// The editor replaces the text field of the form, which it keeps up to date. It stands in a shadow root, where
// CodeMirror uses constructed style sheets, since the content security policy allows no inline styles.

import {
  EditorView, HighlightStyle, autocompletion, basicSetup, completionKeymap, keymap, lintGutter, linter, python, syntaxHighlighting, tags,
} from "./vendor/codemirror.js";

const CHECK_AFTER_MS = 600;

const field = document.querySelector("#code");
const form = field.form;
const mistakes = document.querySelector("#mistakes");
const csrf = form.querySelector('input[name="csrf_token"]').value;

async function complete(context) {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/);
  if (!word && !context.explicit) return null;
  const prefix = word?.text ?? "";
  const answer = await fetch(`${field.dataset.complete}?prefix=${encodeURIComponent(prefix)}`);
  if (!answer.ok) return null;
  const { options } = await answer.json();
  return {
    from: word?.from ?? context.pos,
    validFor: /^[\w]*$/,
    options: options.map((one) => ({ label: one.label, type: one.kind === "tool" ? "function" : "namespace", detail: one.detail, info: one.info || undefined })),
  };
}

async function check(view) {
  const text = view.state.doc.toString();
  if (!text.trim()) return [];
  const body = new URLSearchParams({ code: text, csrf_token: csrf });
  const answer = await fetch(field.dataset.check, { method: "POST", body });
  if (!answer.ok) return [];
  const found = (await answer.json()).mistakes;
  mistakes.textContent = found.map((one) => `Line ${one.line}: ${one.message}`).join("; ");
  return found.map((one) => {
    const line = view.state.doc.line(Math.min(Math.max(one.line, 1), view.state.doc.lines));
    const from = Math.min(line.from + one.column, line.to);
    const message = one.hint ? `${one.message}\n${one.hint}` : one.message;
    return { from, to: Math.max(from, line.to), severity: "error", message };
  });
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--other)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--wait)" },
  { tag: tags.comment, color: "var(--quiet)" },
]);

const theme = EditorView.theme({
  "&": { border: "1px solid var(--quiet)", borderRadius: "4px", color: "var(--text)", background: "var(--back)", minHeight: "18rem", maxHeight: "36rem" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: ".875rem", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "var(--raised)", color: "var(--quiet)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--raised)" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--link)", color: "var(--back)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--line) !important" },
});

const holder = document.createElement("div");
holder.className = "editor";
field.after(holder);
const root = holder.attachShadow({ mode: "open" });
const view = new EditorView({
  doc: field.value,
  parent: root,
  root,
  extensions: [
    keymap.of(completionKeymap),
    basicSetup,
    python(),
    autocompletion({ override: [complete], tooltipClass: () => "completions" }),
    linter(check, { delay: CHECK_AFTER_MS }),
    lintGutter(),
    syntaxHighlighting(colours),
    theme,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Program" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) field.value = update.state.doc.toString();
    }),
  ],
});
field.hidden = true;
document.querySelector("#code-label").addEventListener("click", () => view.focus());
