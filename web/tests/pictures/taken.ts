// Pictures of a page as it is: light, dark, and as narrow as a telephone.
import type { Page } from "@playwright/test";

const FOLDER = "screenshots";

export async function pictures(page: Page, name: string): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.screenshot({ path: `${FOLDER}/${name}-${theme}.png` });
  }
  await page.setViewportSize({ width: 320, height: 640 });
  await page.screenshot({ path: `${FOLDER}/${name}-narrow.png` });
}
