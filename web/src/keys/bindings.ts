// Every action that a key or the palette can run: one table for the keys, the palette and the help.
import { PRESETS } from "../state/presets";

export type Where =
  | "everywhere"
  | "list"
  | "home"
  | "conversation"
  | "map"
  | "compare"
  | "search"
  | "catalog"
  | "processes"
  | "runs"
  | "review"
  | "settings"
  | "inspector";

/** What each place is called, in the order in which they are listed. */
export const places: Record<Where, string> = {
  everywhere: "Everywhere",
  list: "Lists",
  home: "Home",
  conversation: "Conversation",
  map: "Map",
  compare: "Compare",
  search: "Search",
  catalog: "Catalog",
  processes: "Processes",
  runs: "Runs",
  review: "Review",
  settings: "Settings",
  inspector: "Inspector",
};

export interface Binding {
  id: string;
  /** As `Mod+k`, `Shift+g`, `[`, `g h` is not supported: one chord each. `Mod` is ⌘ on Apple's keyboards, else Ctrl. */
  keys: string[];
  where: Where;
  what: string;
  /** Not offered in the palette: it only makes sense as a key. */
  keyOnly?: boolean;
}

const binding = (where: Where, id: string, keys: string[], what: string, keyOnly = false): Binding => ({
  id: `${where}.${id}`,
  keys,
  where,
  what,
  keyOnly,
});

export const bindings: Binding[] = [
  binding("everywhere", "palette", ["Mod+k"], "Open the palette"),
  binding("everywhere", "keys", ["?"], "Show the keys of this screen"),
  binding("everywhere", "search", ["/", "Mod+Shift+f"], "Search"),
  binding("everywhere", "new", ["c"], "New conversation"),
  binding("everywhere", "home", [], "Go to Home"),
  binding("everywhere", "conversations", [], "Go to Conversations"),
  binding("everywhere", "compare", [], "Go to Compare"),
  binding("everywhere", "runs", [], "Go to Runs"),
  binding("everywhere", "review", [], "Go to Review"),
  binding("everywhere", "processes", [], "Go to Processes"),
  binding("everywhere", "catalog", [], "Go to Catalog"),
  binding("everywhere", "settings", [], "Go to Settings"),
  binding("everywhere", "theme", [], "Switch between light and dark"),
  binding("everywhere", "inspector", ["i"], "Open or close the inspector"),
  binding("everywhere", "undo", ["u"], "Undo what was done last since this tab was opened"),
  binding("everywhere", "operations", ["Shift+u"], "What was done, and undo any of it…"),
  binding("everywhere", "signOut", [], "Sign this browser out"),

  binding("list", "next", ["j"], "Next entry", true),
  binding("list", "previous", ["k"], "Previous entry", true),
  binding("list", "open", ["Enter"], "Open the entry", true),

  binding("conversation", "compose", ["Enter"], "Write: go to the composer"),
  binding("conversation", "next", ["j"], "Next turn", true),
  binding("conversation", "previous", ["k"], "Previous turn", true),
  binding("conversation", "older", ["[", "ArrowUp"], "Show the alternative before"),
  binding("conversation", "newer", ["]", "ArrowDown"], "Show the alternative after"),
  binding("conversation", "parent", ["ArrowLeft"], "To the turn this one answers", true),
  binding("conversation", "child", ["ArrowRight"], "To the turn that answers this one", true),
  binding("conversation", "nextFork", ["n"], "Next turn with alternatives or forks"),
  binding("conversation", "previousFork", ["p"], "Turn before with alternatives or forks"),
  binding("conversation", "branches", ["w"], "Branches: all of them, and jump to one…"),
  binding("conversation", "star", ["*"], "Call this path the canonical one, or no longer"),
  binding("conversation", "rewind", ["r"], "Go back to here: the next message goes on from this turn"),
  binding("conversation", "generate", ["g"], "Generate another answer"),
  binding("conversation", "generateMany", ["Shift+g"], "Generate several answers, by several processes…"),
  ...PRESETS.map((preset) =>
    binding("conversation", `preset${preset}`, [preset], `Preset ${preset}: who answers next`, true),
  ),
  binding("conversation", "edit", ["e"], "Edit as a new alternative"),
  binding("conversation", "bookmark", ["b"], "Set or take away the bookmark"),
  binding("conversation", "exclude", ["x"], "Leave out of the context, or take in again"),
  binding("conversation", "pin", [], "Pin in the context, or let it go again"),
  binding("conversation", "prune", [], "Prune this branch, or bring it back"),
  binding("conversation", "annotate", ["a"], "Write a remark on this turn"),
  binding("conversation", "tag", ["t"], "Tags of this turn…"),
  binding("conversation", "alternatives", ["v"], "All alternatives of this turn"),
  binding("conversation", "history", [], "How this text was edited"),
  binding("conversation", "fork", ["f"], "Fork a new conversation from here"),
  binding("conversation", "fold", [], "Fold this conversation into a summary…"),
  binding("conversation", "beside", ["s"], "Show another branch beside this one"),
  binding("conversation", "stop", ["Mod+.", "."], "Stop the answers that are being made"),
  binding("conversation", "regenerateBelow", [], "Regenerate the stale answers below…"),
  binding("conversation", "map", ["m"], "Show the map"),
  binding("conversation", "compareAlternatives", ["d"], "Compare the alternatives of this turn"),
  binding("conversation", "copy", ["y"], "Copy what was said here"),
  binding("conversation", "link", ["l"], "Copy a link to this turn"),
  binding("conversation", "pathLink", ["Shift+l"], "Copy a link to this path, to its end"),
  binding("conversation", "context", ["o"], "Show what a model would be told here"),
  binding("conversation", "provenance", [], "Show where this text comes from"),
  binding("conversation", "export", [], "Export this conversation as Markdown"),
  binding("conversation", "bundle", [], "Export this conversation as a bundle that can be verified"),
  binding("conversation", "rename", [], "Rename this conversation"),
  binding("conversation", "archive", [], "Archive this conversation, or bring it back"),

  binding("map", "parent", ["ArrowLeft"], "To the parent", true),
  binding("map", "child", ["ArrowRight"], "To the first child", true),
  binding("map", "older", ["ArrowUp", "["], "To the node above", true),
  binding("map", "newer", ["ArrowDown", "]"], "To the node below", true),
  binding("map", "open", ["Enter"], "Go to this node in the conversation"),
  binding("map", "hoist", ["h"], "Show only what follows this node"),
  binding("map", "unhoist", ["Shift+h"], "Show the whole tree again"),
  binding("map", "fit", ["z"], "Fit the whole tree"),
  binding("map", "fitPath", ["Shift+z"], "Fit the path you stand on"),
  binding("map", "list", ["v"], "Switch between canvas and tree list"),
  binding("map", "select", ["Space"], "Take this node in the selection, or out of it"),
  binding("map", "compare", ["d"], "Compare the selected nodes"),
  binding("map", "bookmark", ["b"], "Set or take away the bookmark"),
  binding("map", "collapse", ["-"], "Collapse or expand what follows"),
  binding("map", "find", ["/"], "Find in the tree"),
  binding("map", "zoomIn", ["+", "="], "Nearer"),
  binding("map", "zoomOut", ["_"], "Farther"),
  binding("map", "colour", [], "Colour by the next: speaker, process, stale, age"),
  binding("map", "context", ["o"], "Show what a model would be told at this node"),

  binding("compare", "first", ["1"], "Take the first"),
  binding("compare", "second", ["2"], "Take the second"),
  binding("compare", "third", ["3"], "Take the third"),
  binding("compare", "fourth", ["4"], "Take the fourth"),
  binding("compare", "diff", ["d"], "Show or hide the word differences"),
  binding("compare", "merge", ["m"], "Merge the base with another…"),
  binding("compare", "fuse", ["f"], "Have a process make one answer of them…"),

  binding("processes", "new", [], "New process"),
  binding("processes", "save", ["Mod+s"], "Save the process"),
  binding("processes", "run", ["Mod+Enter"], "Run the process…"),
  binding("processes", "raw", [], "Switch between form and raw view"),

  binding("catalog", "connect", [], "Connect a model…"),
  binding("catalog", "new", [], "New entry of the catalog"),
  binding("catalog", "try", ["t"], "Try the tool, or what the entry shows first"),
  binding("catalog", "versions", ["v"], "The versions of the entry"),

  binding("runs", "pause", ["Space"], "Pause this run, or let it go on"),
  binding("runs", "cancel", ["."], "Cancel this run"),
  binding("runs", "retry", ["Shift+r"], "Retry from here…"),
  binding("runs", "branch", ["Shift+b"], "Branch the run here, with edited values…"),
  binding("runs", "replay", [], "Replay the whole run…"),
  binding("runs", "reread", [], "Re-read what the run gave"),
  binding("runs", "tree", ["1"], "Trace as a tree"),
  binding("runs", "timeline", ["2"], "Trace as a timeline"),
  binding("runs", "flame", ["3"], "Trace as a flame"),
  binding("runs", "graph", ["4"], "Trace as a graph of the steps"),
  binding("runs", "log", ["5"], "Trace as a log"),
  binding("runs", "checkpoints", ["6"], "Checkpoints: what is kept, and where to begin again"),

  binding("review", "approve", ["a"], "Approve"),
  binding("review", "edit", ["e"], "Edit before approving"),
  binding("review", "deny", ["d"], "Deny…"),
  binding("review", "scope", ["s"], "How far the approval reaches"),
  binding("review", "ask", ["q"], "Ask the model back before deciding…"),
  binding("review", "delegate", ["g"], "Delegate: ask somebody else to decide…"),
  binding("review", "choose", ["x"], "Choose the entry, to decide several at once"),
  binding("review", "chooseAll", ["Shift+x"], "Choose all that wait, or none"),
  binding("review", "approveChosen", ["Shift+a"], "Approve all that are chosen"),
  binding("review", "denyChosen", ["Shift+d"], "Deny all that are chosen…"),
  binding("review", "standing", [], "Standing approvals…"),
  binding("review", "close", ["Escape"], "Close without deciding", true),

  binding("inspector", "togglePart", ["x"], "Leave this part out of the context, or take it in again", true),
  binding("inspector", "pinPart", ["p"], "Pin this part in the context, or let it go again", true),
  binding("inspector", "verify", ["Shift+v"], "Verify this node"),
];

/** Bindings under their places, the empty places left out. */
export const byPlace = (few: readonly Binding[]): { where: Where; name: string; few: Binding[] }[] =>
  (Object.keys(places) as Where[])
    .map((where) => ({ where, name: places[where], few: few.filter((one) => one.where === where) }))
    .filter(({ few }) => few.length > 0);
