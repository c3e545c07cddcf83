// What static/editor.js needs of CodeMirror 6. `make console-editor` makes static/vendor/codemirror.js of it.
export { autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { python } from "@codemirror/lang-python";
export { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { linter, lintGutter } from "@codemirror/lint";
export { EditorView, keymap } from "@codemirror/view";
export { tags } from "@lezer/highlight";
export { basicSetup } from "codemirror";
