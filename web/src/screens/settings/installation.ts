// Settings of the installation, as controls: what kind each gets, and how their names read.
import type { Schemas } from "../../api/client";

export type Setting = Schemas["SettingView"];
export type SettingKind = "number" | "boolean" | "tool" | "json";

export function kindOf({ name, default: usual, min, max }: Setting): SettingKind {
  if (typeof usual === "number" || (min !== undefined && min !== null) || (max !== undefined && max !== null))
    return "number";
  if (typeof usual === "boolean") return "boolean";
  return name.endsWith(".tool") ? "tool" : "json";
}

/** Labels of setting groups. */
const GROUPS: Record<string, string> = { executions: "Runs" };

/** `summaries.treeNodes` reads as "Tree nodes", under "Summaries". */
export function wordsOf(name: string): { group: string; label: string } {
  const [group = "", ...rest] = name.split(".");
  const sentence = (text: string) => {
    const spaced = text.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    return spaced.charAt(0).toUpperCase() + spaced.slice(1);
  };
  return { group: GROUPS[group] ?? sentence(group), label: sentence(rest.join(" ")) };
}

export function grouped(settings: Setting[]): { group: string; settings: Setting[] }[] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const { group } = wordsOf(setting.name);
    groups.set(group, [...(groups.get(group) ?? []), setting]);
  }
  return [...groups].map(([group, held]) => ({ group, settings: held }));
}

/** Error of a number, shown beside the field. */
export function numberFault({ min, max }: Setting, text: string): string | undefined {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value)) return "must be a whole number";
  if (min !== undefined && min !== null && value < min) return `must be at least ${min.toLocaleString()}`;
  if (max !== undefined && max !== null && value > max) return `must be at most ${max.toLocaleString()}`;
  return undefined;
}
