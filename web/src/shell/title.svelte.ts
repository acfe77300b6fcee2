// The title and the icon of the tab: where the page stands, and how far what it waits for is.
import { answers } from "../state/liveAnswers.svelte";
import { jobs } from "../state/jobs.svelte";
import { faviconOf } from "./favicon";

/** Progress of running work: percent if known. */
export type Under = { percent?: number; words: string } | undefined;

class Title {
  /** Name of the screen. */
  name = $state("");

  /** Long work first: that is what people leave a tab for. */
  get under(): Under {
    const percents = [...jobs.operations.values()];
    if (percents.length > 0) {
      const percent = Math.floor(Math.min(...percents));
      return { percent, words: `${percent} %` };
    }
    return answers.saying.size > 0 ? { words: "Answering…" } : undefined;
  }

  /** To be called while a component is set up. */
  follow(): void {
    $effect(() => {
      document.title = titled(this.name, this.under);
    });
    // The icon is redrawn only when it changes.
    let percent = $derived(this.under?.percent);
    let isUnder = $derived(this.under !== undefined);
    $effect(() => {
      const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
      if (!icon || !isUnder) return;
      const before = icon.getAttribute("href") ?? "";
      icon.setAttribute("href", faviconOf(percent));
      return () => icon.setAttribute("href", before);
    });
  }
}

export const titled = (name: string, under: Under): string =>
  [under?.words, name, "Skein"].filter(Boolean).join(" · ");

export const title = new Title();
