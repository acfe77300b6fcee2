// Text of a node's content.
interface Part {
  type?: unknown;
  text?: unknown;
  blocks?: unknown;
  altText?: unknown;
}

/** The text of any content; what is no text is named. */
export function textOf(content: unknown): string {
  if (content === null || typeof content !== "object") return "";
  const { type, text, blocks, altText } = content as Part;
  if (typeof text === "string") return text;
  if (Array.isArray(blocks)) return blocks.map(textOf).filter(Boolean).join("\n\n");
  const isNamed = typeof altText === "string" && altText !== "";
  return typeof type === "string" ? `[${isNamed ? `${type}: ${altText}` : type}]` : "";
}

/** The first words, without the signs of Markdown, on one line. */
export function briefOf(text: string, most = 160): string {
  const plain = text
    .slice(0, most * 4)
    .replace(/```\w*/g, " ")
    .replace(/^[ \t]*(?:#{1,6}|>+|[-*+]|\d+[.)])[ \t]+/gm, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`~]{1,3}(?=\S)|(?<=\S)[*`~]{1,3}/g, "")
    .replace(/(?<![\p{L}\p{N}])_{1,3}|_{1,3}(?![\p{L}\p{N}])/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > most ? `${plain.slice(0, most - 1).trimEnd()}…` : plain;
}
