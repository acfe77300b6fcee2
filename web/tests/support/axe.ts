import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** Serious accessibility violations. */
export async function serious(page: Page, rules?: string[]): Promise<string[]> {
  // Only violations are read: of what passes, axe need not describe every element.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] });
  if (rules) builder.withRules(rules);
  const { violations } = await builder.analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) =>
      nodes.slice(0, 4).map(({ target, failureSummary }) => {
        const why = failureSummary?.split("\n").slice(1, 3).join(" ").trim() ?? "";
        return `${id}: ${help}: ${target.join(" ")}: ${why}`;
      }),
    );
}

export async function expectAccessible(page: Page, what: string): Promise<void> {
  expect.soft(await serious(page), `${what}: serious findings of axe`).toEqual([]);
}

/** Light was looked at whole; what changes with the theme is colour. */
export async function expectAccessibleInDark(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  expect.soft(await serious(page, ["color-contrast"]), `${what}, dark: findings of axe`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}
