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

/** Name of each scope, in listed order. */
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
  binding("everywhere", "palette", ["Mod+k"], "Open the command palette"),
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
  binding("everywhere", "undo", ["u"], "Undo the last action of this tab"),
  binding("everywhere", "operations", ["Shift+u"], "Action history, and undo any action…"),
  binding("everywhere", "signOut", [], "Sign this browser out"),

  binding("list", "next", ["j"], "Next entry", true),
  binding("list", "previous", ["k"], "Previous entry", true),
  binding("list", "open", ["Enter"], "Open the entry", true),

  binding("conversation", "compose", ["Enter"], "Go to the message box"),
  binding("conversation", "next", ["j"], "Next turn", true),
  binding("conversation", "previous", ["k"], "Previous turn", true),
  binding("conversation", "older", ["[", "ArrowUp"], "Show the previous alternative"),
  binding("conversation", "newer", ["]", "ArrowDown"], "Show the next alternative"),
  binding("conversation", "parent", ["ArrowLeft"], "To the turn this one replies to", true),
  binding("conversation", "child", ["ArrowRight"], "To the reply to this turn", true),
  binding("conversation", "nextFork", ["n"], "Next turn with alternatives or forks"),
  binding("conversation", "previousFork", ["p"], "Previous turn with alternatives or forks"),
  binding("conversation", "branches", ["w"], "List all branches and go to one…"),
  binding("conversation", "star", ["*"], "Mark as main branch, or remove the mark"),
  binding("conversation", "rewind", ["r"], "Rewind to here: the next message continues from this turn"),
  binding("conversation", "generate", ["g"], "Generate another answer"),
  binding("conversation", "generateMany", ["Shift+g"], "Generate several answers by several processes…"),
  ...PRESETS.map((preset) =>
    binding("conversation", `preset${preset}`, [preset], `Preset ${preset}: choose the next process`, true),
  ),
  binding("conversation", "edit", ["e"], "Edit as a new version"),
  binding("conversation", "bookmark", ["b"], "Add or remove a bookmark"),
  binding("conversation", "exclude", ["x"], "Exclude from context, or include again"),
  binding("conversation", "pin", [], "Pin in context, or unpin"),
  binding("conversation", "prune", [], "Prune this branch, or restore it"),
  binding("conversation", "annotate", ["a"], "Write a remark on this turn"),
  binding("conversation", "tag", ["t"], "Tags of this turn…"),
  binding("conversation", "alternatives", ["v"], "All alternatives of this turn"),
  binding("conversation", "history", [], "Edit history of this text"),
  binding("conversation", "fork", ["f"], "Fork a new conversation from here"),
  binding("conversation", "fold", [], "Fold this conversation into a summary…"),
  binding("conversation", "beside", ["s"], "Show another branch beside this one"),
  binding("conversation", "stop", ["Mod+.", "."], "Stop all running answers"),
  binding("conversation", "regenerateBelow", [], "Regenerate the stale answers below…"),
  binding("conversation", "map", ["m"], "Show the map"),
  binding("conversation", "compareAlternatives", ["d"], "Compare the alternatives of this turn"),
  binding("conversation", "copy", ["y"], "Copy this message"),
  binding("conversation", "link", ["l"], "Copy a link to this turn"),
  binding("conversation", "pathLink", ["Shift+l"], "Copy a link to this path"),
  binding("conversation", "context", ["o"], "Show the model context here"),
  binding("conversation", "provenance", [], "Show the provenance of this text"),
  binding("conversation", "export", [], "Export this conversation as Markdown"),
  binding("conversation", "bundle", [], "Export this conversation as a verifiable bundle"),
  binding("conversation", "rename", [], "Edit title and instructions"),
  binding("conversation", "archive", [], "Archive this conversation, or restore it"),

  binding("map", "parent", ["ArrowLeft"], "To the parent", true),
  binding("map", "child", ["ArrowRight"], "To the first child", true),
  binding("map", "older", ["ArrowUp", "["], "To the node above", true),
  binding("map", "newer", ["ArrowDown", "]"], "To the node below", true),
  binding("map", "open", ["Enter"], "Go to this node in the conversation"),
  binding("map", "hoist", ["h"], "Show only the branches below this node"),
  binding("map", "unhoist", ["Shift+h"], "Show the whole tree again"),
  binding("map", "fit", ["z"], "Fit the whole tree"),
  binding("map", "fitPath", ["Shift+z"], "Fit the current path"),
  binding("map", "list", ["v"], "Switch between canvas and tree list"),
  binding("map", "select", ["Space"], "Select or deselect this node"),
  binding("map", "compare", ["d"], "Compare the selected nodes"),
  binding("map", "bookmark", ["b"], "Add or remove a bookmark"),
  binding("map", "collapse", ["-"], "Collapse or expand the branches below"),
  binding("map", "find", ["/"], "Find in the tree"),
  binding("map", "zoomIn", ["+", "="], "Zoom in"),
  binding("map", "zoomOut", ["_"], "Zoom out"),
  binding("map", "colour", [], "Switch colours: speaker, process, stale, age"),
  binding("map", "context", ["o"], "Show the model context at this node"),

  binding("compare", "first", ["1"], "Choose the first"),
  binding("compare", "second", ["2"], "Choose the second"),
  binding("compare", "third", ["3"], "Choose the third"),
  binding("compare", "fourth", ["4"], "Choose the fourth"),
  binding("compare", "diff", ["d"], "Show or hide the word differences"),
  binding("compare", "merge", ["m"], "Merge the base with another…"),
  binding("compare", "fuse", ["f"], "Fuse the answers by a process…"),

  binding("processes", "new", [], "New process"),
  binding("processes", "save", ["Mod+s"], "Save the process"),
  binding("processes", "run", ["Mod+Enter"], "Run the process…"),
  binding("processes", "raw", [], "Switch between form and raw view"),

  binding("catalog", "connect", [], "Connect a model…"),
  binding("catalog", "new", [], "New catalog entry"),
  binding("catalog", "try", ["t"], "Test the tool, or show the first tab of the entry"),
  binding("catalog", "versions", ["v"], "Version history of the entry"),

  binding("runs", "pause", ["Space"], "Pause or continue this run"),
  binding("runs", "cancel", ["."], "Cancel this run"),
  binding("runs", "retry", ["Shift+r"], "Retry from here…"),
  binding("runs", "branch", ["Shift+b"], "Branch the run here with edited values…"),
  binding("runs", "replay", [], "Replay the whole run…"),
  binding("runs", "reread", [], "Show the result of the run again"),
  binding("runs", "tree", ["1"], "Trace as a tree"),
  binding("runs", "timeline", ["2"], "Trace as a timeline"),
  binding("runs", "flame", ["3"], "Trace as a flame graph"),
  binding("runs", "graph", ["4"], "Trace as a graph of the steps"),
  binding("runs", "log", ["5"], "Trace as a log"),
  binding("runs", "checkpoints", ["6"], "Checkpoints: kept results to restart from"),

  binding("review", "approve", ["a"], "Approve"),
  binding("review", "edit", ["e"], "Edit before approving"),
  binding("review", "deny", ["d"], "Deny…"),
  binding("review", "scope", ["s"], "Choose what the approval applies to"),
  binding("review", "ask", ["q"], "Ask the model before deciding…"),
  binding("review", "delegate", ["g"], "Delegate the decision to another user…"),
  binding("review", "choose", ["x"], "Select the entry to decide several at once"),
  binding("review", "chooseAll", ["Shift+x"], "Select all open entries, or none"),
  binding("review", "approveChosen", ["Shift+a"], "Approve all selected"),
  binding("review", "denyChosen", ["Shift+d"], "Deny all selected…"),
  binding("review", "standing", [], "Standing approvals…"),
  binding("review", "close", ["Escape"], "Close without deciding", true),

  binding("inspector", "togglePart", ["x"], "Exclude this part from context, or include it again", true),
  binding("inspector", "pinPart", ["p"], "Pin this part in context, or unpin it", true),
  binding("inspector", "verify", ["Shift+v"], "Verify this node"),
];

/** Bindings under their places, the empty places left out. */
export const byPlace = (few: readonly Binding[]): { where: Where; name: string; few: Binding[] }[] =>
  (Object.keys(places) as Where[])
    .map((where) => ({ where, name: places[where], few: few.filter((one) => one.where === where) }))
    .filter(({ few }) => few.length > 0);
