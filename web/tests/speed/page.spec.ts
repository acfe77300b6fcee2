// Measures the speed of the page as a table for docs/benchmarks.md. Run on a quiet machine: `make bench-page`.
import { once } from "node:events";
import { createServer } from "node:http";
import { loadavg } from "node:os";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "@playwright/test";
import { composer, turns } from "../support/conversation";
import { signIn, test } from "../support/test";
import type { Skein } from "../support/server";
import { wideTree } from "../support/wide-tree";

const LOADS = 7;
const TURNS = 10_000;
const NODES = 100_000;
const KEYS = 60;
const HOUR_MS = 3_600_000;

const rows: string[][] = [];
const middle = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const note = (what: string, limit: string, found: string) => rows.push([what, limit, found]);
const ms = (value: number) => `${value.toFixed(0)} ms`;

test.describe.configure({ mode: "serial", timeout: HOUR_MS });
test.afterAll(() => {
  note("load of the machine when it ended, 1 minute", "–", (loadavg()[0] ?? 0).toFixed(1));
  const lines = [["What", "Limit", "Measured"], ["---", "---", "---"], ...rows];
  process.stdout.write(`\n${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n`);
});

/** A page in a browser that has nothing yet. */
async function fresh(browser: Browser, skein: Skein, cookie: Parameters<typeof signIn>[2]): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await signIn(context, skein, cookie);
  return context.newPage();
}

/** Keeps every task over 50 ms, and how many frames were drawn, from now on. */
async function observe(page: Page): Promise<() => Promise<{ tasks: number[]; frames: number[] }>> {
  await page.evaluate(() => {
    const seen = { tasks: [] as number[], frames: [] as number[] };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.tasks.push(duration);
    }).observe({ type: "longtask" });
    let last = performance.now();
    const frame = (now: number) => {
      seen.frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return () =>
    page.evaluate(() => (window as unknown as { seen: { tasks: number[]; frames: number[] } }).seen);
}

test("first load", async ({ browser, skein, story }) => {
  const times: number[] = [];
  let bytes = 0;
  for (let load = 0; load < LOADS; load++) {
    const page = await fresh(browser, skein, story.person.api);
    const network = await page.context().newCDPSession(page);
    const scripts = new Set<string>();
    let loaded = 0;
    await network.send("Network.enable");
    network.on(
      "Network.responseReceived",
      ({ requestId, type }) => type === "Script" && scripts.add(requestId),
    );
    network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) loaded += encodedDataLength;
    });
    await page.goto(skein.origin, { waitUntil: "commit" });
    // Interactive: the screen shows what it is about, and a key press has its effect in the next frame.
    await page.getByRole("heading", { name: "Continue" }).waitFor();
    times.push(
      await page.evaluate(
        () => new Promise<number>((done) => requestAnimationFrame(() => done(performance.now()))),
      ),
    );
    bytes = loaded;
    await page.context().close();
  }
  note("JavaScript of the first load, compressed", "150 KB", `${(bytes / 1024).toFixed(1)} KB`);
  note(`interactive, Home on loopback, middle of ${LOADS}`, "500 ms", ms(middle(times)));
});

test("a path of 10,000 turns", async ({ browser, skein, story }) => {
  const { person } = story;
  const { id } = await person.begin("Ten thousand turns");
  let after: string | undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const text = `Turn ${turn}: ${"herons, cranes and storks ".repeat(1 + (turn % 7))}`;
    const grown = await person.api.post<{ node: { id: string } }>(`/conversations/${id}/turns`, {
      text,
      parentAlternativeId: after,
    });
    after = grown.node.id;
  }
  const page = await fresh(browser, skein, person.api);
  const start = Date.now();
  await page.goto(`${skein.origin}/c/${id}`);
  await turns(page)
    .last()
    .getByText(`Turn ${TURNS - 1}:`)
    .waitFor();
  note("conversation of 10,000 turns opens at its end", "–", ms(Date.now() - start));

  const seen = await observe(page);
  await page.getByRole("log").evaluate(async (log) => {
    for (let frame = 0; frame < 300; frame++) {
      log.scrollTop -= 700;
      await new Promise(requestAnimationFrame);
    }
  });
  const { tasks, frames } = await seen();
  const longest = Math.max(0, ...tasks);
  note(
    "longest task while it scrolls, 300 screens",
    "50 ms",
    longest === 0 ? "none over 50 ms" : ms(longest),
  );
  note("frames per second while it scrolls", "–", (1000 / middle(frames)).toFixed(0));

  await composer(page).focus();
  await page.evaluate(() => {
    const waits: number[] = [];
    const own: number[] = [];
    Object.assign(window, { waits, own });
    // Time of the page's own key handling, without painting and browser driver.
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceEventTiming[])
        if (/^(key|input|beforeinput)/.test(entry.name))
          own.push(entry.processingEnd - entry.processingStart);
    }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
    addEventListener(
      "keydown",
      () => {
        const start = performance.now();
        requestAnimationFrame(() => setTimeout(() => waits.push(performance.now() - start)));
      },
      true,
    );
  });
  for (let key = 0; key < KEYS; key++) await page.keyboard.press("h");
  const { waits, own } = await page.evaluate(() => {
    const { waits, own } = window as unknown as { waits: number[]; own: number[] };
    return { waits, own };
  });
  note("what the page does about a key press in its composer, worst", "16 ms", ms(Math.max(0, ...own)));
  note("a key press in its composer until it is painted, middle", "–", ms(middle(waits)));
  note("the same, worst", "–", ms(Math.max(...waits)));
  await page.context().close();
});

test("a map of 100,000 nodes", async ({ browser, skein, story }) => {
  const page = await fresh(browser, skein, story.person.api);
  // A server of its own gives the tree: through the driver of the browser it would come late.
  const tree = wideTree(story.survey, NODES);
  const giver = createServer((_, answer) => {
    answer.setHeader("content-type", "application/json");
    answer.end(tree);
  }).listen(0, "127.0.0.1");
  await once(giver, "listening");
  const at = `http://127.0.0.1:${(giver.address() as AddressInfo).port}/tree`;
  await page.route(/\/tree(\?|$)/, (route) => route.continue({ url: at }));
  await page.goto(skein.origin);
  await page.getByRole("heading", { name: "Continue" }).waitFor();
  await page.goto(`${skein.origin}/c/${story.survey}/map`);
  const canvas = page.locator("main canvas").first();
  await canvas.waitFor();
  const painted = await canvas.evaluate(async (element) => {
    const pixels = () => {
      const { width, height } = element as HTMLCanvasElement;
      const context = (element as HTMLCanvasElement).getContext("2d");
      if (!context || width === 0) return 0;
      const { data } = context.getImageData(0, 0, width, height);
      const colours = new Set<number>();
      for (let at = 0; at < data.length; at += 4 * 97)
        colours.add((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!);
      return colours.size;
    };
    while (pixels() < 3) await new Promise(requestAnimationFrame);
    return performance.now();
  });
  note("map of 100,000 nodes, first paint after the navigation", "1500 ms", ms(painted));

  const seen = await observe(page);
  const box = await canvas.boundingBox();
  if (!box) throw new Error("the map has no place");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (let step = 0; step < 60; step++)
    await page.mouse.move(box.x + box.width / 2 + step * 4, box.y + box.height / 2);
  await page.mouse.up();
  const { frames, tasks } = await seen();
  note("frames per second while it is dragged, software rendering", "–", (1000 / middle(frames)).toFixed(0));
  note("longest task while it is dragged", "–", ms(Math.max(0, ...tasks)));
  giver.close();
  await page.context().close();
});
