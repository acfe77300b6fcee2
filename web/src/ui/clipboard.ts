// Puts text on the clipboard. Browsers give pages without TLS no clipboard of their own; the older way works there.
export async function copied(text: string): Promise<boolean> {
  try {
    if (!navigator.clipboard) return byCommand(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byCommand(text);
  }
}

/** Selects the text in a field that is there for a moment; within the dialog that is open, since all else is inert. */
function byCommand(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  field.readOnly = true;
  ([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}
