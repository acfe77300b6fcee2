// The colours of the page as the canvas needs them: it does not read the names of styles.
import type { Inks } from "./paint";

const NAMES: Record<keyof Inks, string> = {
  person: "--person",
  accent: "--accent",
  note: "--note",
  warning: "--warning",
  success: "--success",
  danger: "--danger",
  text: "--text",
  textSoft: "--text-soft",
  textFaint: "--text-faint",
  line: "--line-soft",
  lineStrong: "--line-strong",
  surface: "--surface",
  bg: "--bg",
  accentSoft: "--accent-soft",
};

export function inksOf(inside: HTMLElement): { inks: Inks; font: string } {
  const probe = document.createElement("span");
  probe.hidden = true;
  inside.append(probe);
  const style = getComputedStyle(probe);
  const inks = Object.fromEntries(
    Object.entries(NAMES).map(([name, variable]) => {
      probe.style.color = `var(${variable})`;
      return [name, style.color];
    }),
  ) as Inks;
  const font = style.fontFamily;
  probe.remove();
  return { inks, font };
}

/** Calls back when the page turns light or dark. */
export function onTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    dark.removeEventListener("change", changed);
    observer.disconnect();
  };
}
