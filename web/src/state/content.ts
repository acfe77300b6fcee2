// What a node says, as parts that can be shown.
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
