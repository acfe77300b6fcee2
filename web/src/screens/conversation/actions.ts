// Actions of keys, menus and the palette in a conversation.
import { call } from "../../api/client";
import type { Handler } from "../../keys/registry.svelte";
import { router } from "../../router.svelte";
import { to } from "../../routes";
import { announcer } from "../../shell/announcer.svelte";
import { inspector } from "../../shell/inspector.svelte";
import { answers } from "../../state/liveAnswers.svelte";
import { download } from "../../state/download";
import { presetAt, PRESETS, type Preset } from "../../state/presets";
import { processes } from "../../state/processes.svelte";
import { settings } from "../../state/settings.svelte";
import {
  activateNode,
  requestAnswer,
  selectAlternative,
  archive,
  requestAlternative,
  fork,
  mark,
  regenerate,
  shownText,
  toggleMainBranch,
  stop,
} from "../../state/conversationActions";
import type { ShownTurn } from "../../state/tree";
import { copied } from "../../ui/clipboard";
import { PINNED } from "../inspector/marks";
import { aboveOf, staleTail, type Version } from "./shownPath";
import type { View } from "./view.svelte";

interface Parts {
  view: View;
  path: () => ShownTurn[];
  focus: (node: string | undefined, align?: "nearest" | "start") => Promise<void>;
  composer: () => HTMLTextAreaElement | undefined;
  list: () => { scrollToEnd: () => void } | undefined;
}

export function conversationActions({ view, path, focus, composer }: Parts): Record<string, Handler> {
  const { conversation } = view;
  const index = () =>
    Math.max(
      0,
      path().findIndex(({ node }) => node === view.focused),
    );
  const here = (): ShownTurn | undefined => path().find(({ node }) => node === view.focused) ?? path().at(-1);
  const body = () => conversation.bodies.get(here()?.node ?? "");
  const on =
    (act: (shown: ShownTurn) => unknown): Handler =>
    () => {
      const shown = here();
      if (!shown || shown.node.startsWith("local-")) return;
      view.focused = shown.node;
      void act(shown);
    };
  const step = (by: number) =>
    on(async ({ node, alternatives }) => {
      const next = alternatives[alternatives.indexOf(node) + by];
      if (!next) return;
      view.focused = next;
      void selectAlternative(conversation, next);
      await focus(next);
      announcer.say(`Alternative ${alternatives.indexOf(next) + 1} of ${alternatives.length}`);
    });
  const isFork = ({ alternatives, branchTurns, node }: ShownTurn) =>
    alternatives.length > 1 || branchTurns.length > 1 || conversation.forksOf(node).length > 0;
  const toFork = (by: 1 | -1) => () => {
    const all = path();
    for (let at = index() + by; at >= 0 && at < all.length; at += by) {
      const shown = all[at];
      if (shown && isFork(shown)) return void focus(shown.node, "start");
    }
    announcer.say(by > 0 ? "No fork below." : "No fork above.");
  };
  const copyLink = async (node: string, said: string) => {
    const body = conversation.bodies.get(node) ?? (await conversation.fetch(node));
    const name = body?.localId || node;
    const link = location.origin + to.node(conversation.id, name);
    if (await copied(link)) announcer.say(said);
    else announcer.show(`The browser blocked copying: ${link}`);
  };
  const rewind = on(async ({ node }) => {
    if (router.query("until") === node) {
      router.setQuery({ until: undefined });
      return announcer.say("Later turns are shown again.");
    }
    if (path().at(-1)?.node === node) return announcer.say("This is already the end of the path.");
    const tail = staleTail(path());
    if (!tail?.nodes.includes(node)) return rewindTo(node);
    view.ask(
      { tail, title: "Which version do you rewind to?", isChosenOffered: true },
      (version) => void rewindTo(version === "chosen" ? tail.chosen : node),
    );
  });
  const rewindTo = async (node: string) => {
    router.setQuery({ until: node });
    announcer.say("Rewound to here. Later turns are kept. Your next message continues from this turn.");
    await activateNode(conversation, node);
  };
  const generate = on((shown) => view.toAbove(shown.node, () => answerAgain(shown)));
  const answerAgain = async ({ turn, node }: ShownTurn) => {
    if (conversation.treeNode(node)?.author !== "human") {
      const above = aboveOf(conversation, path(), node);
      const made = conversation.bodies.get(node)?.executedBy;
      const again = () =>
        made
          ? regenerate(conversation, turn, node, above)
          : requestAlternative(conversation, turn, above, view.processIds, 1);
      await conversation.attempt(node, "generate another answer", again);
    } else {
      const after = conversation.tree.answersTo(node);
      if (after)
        await conversation.attempt(node, "generate another answer", () =>
          requestAlternative(conversation, after, node, view.processIds, 1),
        );
      else await requestAnswer(conversation, node, view.processIds);
    }
  };
  const toggle = (name: "bookmarked" | "excluded" | "pruned", words: [string, string]) =>
    on(async ({ node }) => {
      const now = !(conversation.treeNode(node)?.[name] ?? false);
      if (await mark(conversation, node, { [name]: now })) announcer.say(words[now ? 0 : 1]);
    });

  const forkAt = (node: string) =>
    void conversation.attempt(node, "fork", async () => {
      const onward = router.onward();
      onward(to.conversation((await fork(conversation, node)).id));
    });

  const take = (preset: Preset) => () => {
    const process = presetAt(preset, settings.presets, processes.usable);
    if (process) view.answering = [process.id];
    announcer.say(process ? `${process.name} answers next.` : `Preset ${preset} has no process.`);
  };

  return {
    ...Object.fromEntries(PRESETS.map((preset) => [`conversation.preset${preset}`, take(preset)])),
    "conversation.compose": () => void composer()?.focus(),
    "conversation.next": () => void focus(path()[Math.min(path().length - 1, index() + 1)]?.node),
    "conversation.previous": () => void focus(path()[Math.max(0, index() - 1)]?.node),
    "conversation.parent": () => void focus(path()[index() - 1]?.node),
    "conversation.child": () => void focus(path()[index() + 1]?.node),
    "conversation.older": step(-1),
    "conversation.newer": step(1),
    "conversation.nextFork": toFork(1),
    "conversation.previousFork": toFork(-1),
    "conversation.branches": () => view.open("branches"),
    "conversation.star": async () => {
      const end = path().at(-1)?.node;
      if (!end || end.startsWith("local-") || !(await toggleMainBranch(conversation, end))) return;
      announcer.say(conversation.canonical ? "Marked as main branch." : "No main branch is marked.");
    },
    "conversation.rewind": rewind,
    "conversation.generate": generate,
    "conversation.generateMany": on(({ node }) => view.toAbove(node, () => view.open("generate", node))),
    "conversation.edit": on(({ node }) =>
      view.onItsPath(node, "Which version does this edit belong to?", () => (view.editing = node)),
    ),
    "conversation.bookmark": toggle("bookmarked", ["Bookmarked", "Bookmark removed"]),
    "conversation.exclude": toggle("excluded", ["Excluded from context", "Included in context again"]),
    "conversation.pin": on(async ({ node }) => {
      const isPinned = body()?.tags?.includes(PINNED) ?? false;
      const changes = isPinned ? { untag: [PINNED] } : { tag: [PINNED] };
      if (await mark(conversation, node, changes)) announcer.say(isPinned ? "Unpinned" : "Pinned");
    }),
    "conversation.prune": toggle("pruned", ["Pruned", "Restored"]),
    "conversation.annotate": on(({ node }) => void (view.annotating = node)),
    "conversation.tag": on(({ node }) => view.open("tags", node)),
    "conversation.alternatives": on(({ node }) =>
      document.querySelector<HTMLElement>(`[data-node="${node}"] .count`)?.click(),
    ),
    "conversation.history": on(({ node }) => view.open("history", node)),
    "conversation.fork": on(({ node }) => {
      const tail = staleTail(path());
      if (!tail?.nodes.includes(node)) return forkAt(node);
      view.ask({ tail, title: "Which version does the fork continue?", isChosenOffered: true }, (version) =>
        forkAt(version === "chosen" ? tail.chosen : node),
      );
    }),
    "conversation.fold": () => {
      const tail = staleTail(path());
      const open = (version?: Version) => {
        view.foldedVersion = version;
        view.open("fold");
      };
      if (!tail) return open();
      view.ask({ tail, title: "Which version is folded?", isChosenOffered: true }, open);
    },
    "conversation.beside": on(({ node, alternatives }) => {
      if (router.query("beside")) return router.setQuery({ beside: undefined });
      const other = alternatives.find((one) => one !== node) ?? node;
      router.setQuery({ beside: other });
    }),
    "conversation.stop": () => {
      for (const node of [...answers.saying.keys()]) void stop(conversation, node);
    },
    "conversation.regenerateBelow": () => {
      const stale = path().find((shown) => shown.stale);
      if (stale) view.open("below", stale.node);
      else announcer.say("No answer below is stale.");
    },
    "conversation.map": on(({ node }) => router.go(to.map(conversation.id, node))),
    "conversation.compareAlternatives": on(({ alternatives, node }) => {
      const others = alternatives.filter((one) => one !== node).slice(-3);
      router.go(to.compare([node, ...others]));
    }),
    "conversation.copy": on(async ({ node }) => {
      const text = shownText(conversation.bodies.get(node) ?? (await conversation.fetch(node)));
      if (await copied(text)) announcer.show("Copied");
      else announcer.show("The browser blocked copying.");
    }),
    "conversation.link": on(({ node }) => copyLink(node, "Link copied")),
    "conversation.pathLink": async () => {
      const end = path().at(-1)?.node;
      if (end && !end.startsWith("local-")) await copyLink(end, "Link to this path copied");
    },
    "conversation.context": on(({ node }) => inspector.show("context", node)),
    "conversation.provenance": on(({ node }) => inspector.show("provenance", node)),
    "conversation.export": () =>
      void conversation.attempt(view.focused ?? "", "export this conversation", () =>
        download(`/api/v1/conversations/${conversation.id}/export?format=markdown`),
      ),
    "conversation.bundle": () =>
      void conversation.attempt(view.focused ?? "", "export the bundle", async () => {
        const { downloadUrl } = await call("post", "/api/v1/exports", {
          body: { conversationId: conversation.id },
        });
        await download(downloadUrl);
      }),
    "conversation.rename": () => view.open("title"),
    "conversation.archive": () =>
      void conversation.attempt(view.focused ?? "", "archive this conversation", async () => {
        const { status } = await archive(conversation);
        announcer.say(status === "archived" ? "Archived" : "Restored");
      }),
  };
}
