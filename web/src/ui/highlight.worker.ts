// Finds the words of a language in code. Apart from the page: whatever a grammar makes of strange code, nobody waits for it.
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import diff from "highlight.js/lib/languages/diff";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

export interface HighlightRequest {
  id: number;
  code: string;
  language: string;
}
export interface HighlightResult {
  id: number;
  /** Nothing for a language that is not known here. */
  html?: string;
}

const languages = { bash, diff, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
highlighter.registerAliases(["javascript", "js", "jsx", "mjs"], { languageName: "typescript" });

addEventListener("message", ({ data: { id, code, language } }: MessageEvent<HighlightRequest>) => {
  const html = highlighter.getLanguage(language)
    ? highlighter.highlight(code, { language, ignoreIllegals: true }).value
    : undefined;
  postMessage({ id, html } satisfies HighlightResult);
});
