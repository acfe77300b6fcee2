// Input devices: mouse, or keys alone. A task is written once and run with either.
import { expect, type Locator, type Page } from "@playwright/test";

export interface Hands {
  readonly kind: "mouse" | "keyboard";
  /** Presses a button, follows a link, ticks a box. */
  press(at: Locator): Promise<void>;
  /** Writes into a field in place of what is there. */
  write(at: Locator, text: string): Promise<void>;
  /** Chooses an entry of a native list by its label. */
  choose(at: Locator, label: string): Promise<void>;
  /** Opens a menu and picks an entry. */
  pick(menu: Locator, entry: string | RegExp): Promise<void>;
  /** Goes to a place of the rail. */
  go(place: string): Promise<void>;
  /** Runs an action by its button, or by its key where the focus is not in a field. */
  act(button: Locator, key: string): Promise<void>;
}

const RAIL = "navigation";

export class Mouse implements Hands {
  readonly kind = "mouse";
  constructor(private readonly page: Page) {}

  press(at: Locator): Promise<void> {
    return at.click();
  }
  async write(at: Locator, text: string): Promise<void> {
    await at.click();
    await at.fill(text);
  }
  async choose(at: Locator, label: string): Promise<void> {
    await at.selectOption({ label });
  }
  async pick(menu: Locator, entry: string | RegExp): Promise<void> {
    await menu.click();
    await this.page.getByRole("menuitem", { name: entry }).click();
  }
  async go(place: string): Promise<void> {
    await this.page.getByRole(RAIL).first().getByRole("link", { name: place }).first().click();
  }
  async act(button: Locator): Promise<void> {
    await button.click();
  }
}

/** Most presses of Tab that a person is asked for to reach anything on a screen. */
const TABS_MAX = 150;

export class Keyboard implements Hands {
  readonly kind = "keyboard";
  constructor(private readonly page: Page) {}

  async press(at: Locator): Promise<void> {
    await this.reach(at);
    const isTicked = await at.evaluate(
      (element) =>
        element.matches("input[type=checkbox], input[type=radio], [role=switch], [role=checkbox]") ||
        element.tagName === "SUMMARY",
    );
    const isRadio = await at.evaluate((element) => element.matches("input[type=radio]:checked"));
    // Arrows choose among radio buttons as they reach them.
    if (!isRadio) await this.page.keyboard.press(isTicked ? "Space" : "Enter");
  }

  async write(at: Locator, text: string): Promise<void> {
    await this.reach(at);
    await this.page.keyboard.press("Control+a");
    if (text === "") await this.page.keyboard.press("Delete");
    else await this.page.keyboard.insertText(text);
    await expect(at).toHaveValue(text);
  }

  async choose(at: Locator, label: string): Promise<void> {
    await this.reach(at);
    await expect(at.locator("option", { hasText: label }).first()).toBeAttached();
    const steps = await at.evaluate((element, wanted) => {
      const list = element as HTMLSelectElement;
      const labels = [...list.options].map((option) => option.label.trim());
      return { from: list.selectedIndex, to: labels.indexOf(wanted), labels };
    }, label);
    if (steps.to < 0) throw new Error(`no entry ${label} among ${steps.labels.join(", ")}`);
    const key = steps.to > steps.from ? "ArrowDown" : "ArrowUp";
    for (let left = Math.abs(steps.to - steps.from); left > 0; left--) await this.page.keyboard.press(key);
    await expect(at.locator("option:checked")).toHaveText(label);
  }

  async pick(menu: Locator, entry: string | RegExp): Promise<void> {
    await this.press(menu);
    const wanted = this.page.getByRole("menuitem", { name: entry });
    await wanted.waitFor();
    for (let tries = 0; tries < 40; tries++) {
      if (await isFocused(wanted)) {
        await this.page.keyboard.press("Enter");
        return;
      }
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error(`the arrows do not reach ${String(entry)}`);
  }

  /** By the palette, which has every place and every action. */
  async go(place: string): Promise<void> {
    await this.palette(`Go to ${place}`);
  }

  async palette(action: string): Promise<void> {
    // A person sees the page before they press a key.
    await expect(this.page.getByRole("navigation").first()).toBeVisible();
    await this.page.keyboard.press("Control+k");
    const field = this.page.getByRole("combobox", { name: "Search or run a command" });
    await expect(field).toBeFocused();
    await this.page.keyboard.insertText(action);
    await expect(this.page.locator('#palette-list [aria-selected="true"]')).toContainText(action);
    await this.page.keyboard.press("Enter");
    await expect(field).toBeHidden();
  }

  /** Once it is seen what the key does. */
  async act(button: Locator, key: string): Promise<void> {
    await button.waitFor();
    await expect(button).toBeEnabled();
    await this.page.keyboard.press(key);
  }

  /** Presses Tab until the element has the focus, in the direction in which it stands. */
  async reach(at: Locator): Promise<void> {
    await at.waitFor();
    // A person sees whether a button can be pressed.
    await expect(at).toBeEnabled();
    for (let presses = 0; presses < TABS_MAX; presses++) {
      const where = await at.evaluate((element) => {
        const focused = document.activeElement;
        if (focused === element) return undefined;
        if (!focused || focused === document.body) return "Tab";
        const follows = Boolean(focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
        const isRadio = element instanceof HTMLInputElement && element.type === "radio";
        const isBeside = isRadio && focused instanceof HTMLInputElement && focused.name === element.name;
        if (isBeside) return follows ? "ArrowDown" : "ArrowUp";
        const tabs = element.closest("[role=tablist]");
        if (tabs?.contains(focused)) return follows ? "ArrowRight" : "ArrowLeft";
        return follows ? "Tab" : "Shift+Tab";
      });
      if (where === undefined) return;
      await this.page.keyboard.press(where);
    }
    throw new Error(`Tab does not reach ${String(at)}`);
  }
}

const isFocused = (at: Locator): Promise<boolean> =>
  at.evaluate((element) => document.activeElement === element);
