// Fixtures of every browser test: a server, a person, a signed-in page, and a watch for forbidden events.
import { test as base, expect, type BrowserContext, type Page } from "@playwright/test";
import { Api } from "./api";
import { Keyboard, Mouse, type Hands } from "./hands";
import { httpbin, litellm, type Peer } from "./peers";
import { Person } from "./person";
import { Skein } from "./server";
import { tell, type Story } from "./story";
import { Watch } from "./watch";

interface Newcomer {
  person: Person;
  /** Signs a browser in, once. */
  link: string;
}

interface PerTest {
  /** Somebody who has nothing yet, made for this test. */
  newcomer: Newcomer;
  person: Person;
  watch: Watch;
  /** A page signed in as `person`, before it goes anywhere. */
  page: Page;
  /** The same page on Home. */
  home: Page;
  /** The page of somebody who has used everything. */
  told: Page;
  /** The page of somebody who has done nothing, for looking at only. */
  untold: Page;
  /** Input device of the task. */
  by: Hands["kind"];
  hands: Hands;
}
interface PerWorker {
  skein: Skein;
  story: Story;
  /** Somebody who does nothing. */
  nobody: Person;
  /** Servers written by others, started when a test asks for them. */
  litellm: Peer;
  httpbin: Peer;
}

/** Makes an administrator with a link for a browser and a session for the test. */
export async function newcomer(skein: Skein, name: string): Promise<Newcomer> {
  const admin = await skein.admin();
  const made = await admin.post<{ id: string; signInLink: { url: string } }>("/users", {
    name,
    role: "admin",
  });
  const api = await Api.signIn(skein.address, made.signInLink.url);
  const { url } = await api.post<{ url: string }>("/account/sign-in-links");
  return { person: new Person(api), link: skein.at(url) };
}

export async function signIn(context: BrowserContext, skein: Skein, api: Api): Promise<void> {
  const [name = "", value = ""] = api.cookie.split("=");
  await context.addCookies([{ name, value, url: skein.origin, httpOnly: true, sameSite: "Strict" as const }]);
}

/** The worker's page, which the runner resets between tests; a new one if a test closed it. */
const pageOf = async (context: BrowserContext): Promise<Page> => context.pages()[0] ?? context.newPage();

/** Requests still held back or mocked at the end of a test are ignored. */
async function looked(page: Page, use: (page: Page) => Promise<void>): Promise<void> {
  await use(page);
  if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
  // The runner does not reset permissions.
  await page.context().clearPermissions();
}

export const test = base.extend<PerTest, PerWorker>({
  skein: [
    async ({}, use) => {
      const skein = await Skein.start();
      await use(skein);
      await skein.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  story: [
    async ({ skein }, use) => {
      const { person } = await newcomer(skein, "Rosa");
      await use(await tell(person.api));
    },
    { scope: "worker", timeout: 60_000 },
  ],
  nobody: [
    async ({ skein }, use) => use((await newcomer(skein, "Ada")).person),
    { scope: "worker", timeout: 60_000 },
  ],
  litellm: [
    async ({}, use) => {
      const peer = await litellm();
      await use(peer);
      await peer.stop();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  httpbin: [
    async ({}, use) => {
      const peer = await httpbin();
      await use(peer);
      await peer.stop();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  by: ["mouse", { option: true }],
  hands: async ({ page, by }, use) => use(by === "mouse" ? new Mouse(page) : new Keyboard(page)),
  newcomer: async ({ skein }, use) => use(await newcomer(skein, "Ada")),
  person: async ({ newcomer }, use) => use(newcomer.person),
  watch: async ({ context, skein }, use) => {
    const watch = new Watch(context, skein.origin);
    await use(watch);
    expect(watch.wrong, "what a page must not do").toEqual([]);
  },
  page: async ({ context, skein, person, watch }, use) => {
    void watch;
    await signIn(context, skein, person.api);
    await looked(await pageOf(context), use);
  },
  home: async ({ page, skein }, use) => {
    await page.goto(skein.origin);
    await use(page);
  },
  told: async ({ context, skein, story, watch }, use) => {
    void watch;
    await signIn(context, skein, story.person.api);
    await looked(await pageOf(context), use);
  },
  untold: async ({ context, skein, nobody, watch }, use) => {
    void watch;
    await signIn(context, skein, nobody.api);
    await looked(await pageOf(context), use);
  },
});
export { expect };

export type Fixtures = Parameters<Parameters<typeof test>[2]>[0];

/** A task done by mouse, and again by keys alone: from page load on only presses and typing. */
export function task(title: string, steps: (fixtures: Fixtures) => Promise<void>): void {
  for (const by of ["mouse", "keyboard"] as const) {
    test.describe(`by ${by}`, () => {
      test.use({ by });
      test(title, steps);
    });
  }
}
