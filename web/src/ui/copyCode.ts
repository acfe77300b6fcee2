// A button in each block of code that copies it. The text itself is drawn as HTML that can do nothing.
import { copied } from "./clipboard";

const TOLD_MS = 1_500;

export function withCopyButtons(block: HTMLElement): void {
  for (const pre of block.querySelectorAll("pre")) {
    if (pre.querySelector(":scope > button")) continue;
    const code = pre.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.onclick = async () => {
      button.textContent = (await copied(code)) ? "Copied" : "Not copied";
      setTimeout(() => (button.textContent = "Copy"), TOLD_MS);
    };
    pre.prepend(button);
  }
}
