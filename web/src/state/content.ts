// Content of a node as displayable blocks.
export interface Text {
  type: "text";
  text: string;
}
export interface Image {
  type: "image";
  ref: string;
  mimeType: string;
  width: number;
  height: number;
  thumbnailRef?: string;
  altText?: string;
}
export interface Audio {
  type: "audio";
  ref: string;
  mimeType: string;
  durationMs: number;
}
export type Block = Text | Image | Audio;
export type Content = Block | { type: "mixed"; blocks: Block[] };

export function blocks(content: unknown): Block[] {
  if (content === null || typeof content !== "object") return [];
  const told = content as Content;
  return told.type === "mixed" ? told.blocks : [told];
}

export const textOf = (content: unknown): string =>
  blocks(content)
    .flatMap((block) =>
      block.type === "text" ? [block.text] : block.type === "image" && block.altText ? [block.altText] : [],
    )
    .join("\n\n");

/** Text with attachments, in the shortest form that says it. */
export function contentOf(text: string, attached: Block[]): Content {
  const said: Block[] = text.trim() === "" ? [] : [{ type: "text", text }];
  const all = [...said, ...attached];
  return all.length === 1 && all[0] ? all[0] : { type: "mixed", blocks: all };
}

/** The same content with another text: attachments stay. */
export const reworded = (content: unknown, text: string): Content =>
  contentOf(
    text,
    blocks(content).filter((block) => block.type !== "text"),
  );

/** The words of a text in one line, without the marks of Markdown. */
export function plain(text: string, most = 240): string {
  const words = text
    // Text beyond the limit is not parsed.
    .slice(0, 4 * most)
    .replace(/^[\s>]*\|?(?:\s*:?-{3,}:?\s*\|)+[\s:-]*$/gm, "")
    .replace(/^(?:\s*(?:>|#{1,6}|[-*+]|\d{1,3}[.)])(?=\s|$))+/gm, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
    .replace(/\*+|__|~~|`+/g, "")
    .replace(/\s*\|\s*/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words;
}
