// Text of models as HTML that can do nothing: no tags of its own, no styles, no pictures or links that load by themselves.
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

const md = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false });
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** True if an address changes the account: a rendered text must not link there. */
export function leadsToSignIn(address: string, origin: string): boolean {
  let path: string;
  let isHere: boolean;
  try {
    const link = new URL(address, origin);
    isHere = link.origin === new URL(origin).origin;
    path = decodeURIComponent(link.pathname)
      .replace(/[\\/]+/g, "/")
      .toLowerCase();
  } catch {
    return true;
  }
  return isHere ? /^\/sign-in(\/|$)/.test(path) : /^\/sign-in\/sl_/.test(path);
}
const isPlainLink = md.validateLink.bind(md);
// Text that is no link stays text.
md.validateLink = (address) =>
  isPlainLink(address) && !leadsToSignIn(address, globalThis.location?.origin ?? "http://localhost");

// The policy of the page allows no style attributes, and a table asks for them.
md.core.ruler.push("plain", (state) => {
  for (const token of state.tokens) {
    const style = token.attrGet("style");
    if (style && token.attrs) {
      token.attrs = token.attrs.filter(([name]) => name !== "style");
      token.attrSet("class", String(style).replace(/^text-align:/, "align-"));
    }
    if (/^(paragraph|heading|list_item|blockquote|th|td)_open$/.test(token.type))
      token.attrSet("dir", "auto");
  }
});
md.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet("rel", "noopener noreferrer");
  tokens[index]?.attrSet("target", "_blank");
  return self.renderToken(tokens, index, options);
};
// A picture from elsewhere would tell a stranger that it was looked at: it becomes a link.
md.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const source = md.utils.escapeHtml(String(token?.attrGet("src") ?? ""));
  const words = md.utils.escapeHtml(token?.content || "picture");
  return `<a href="${source}" rel="noopener noreferrer" target="_blank">${words}</a>`;
};

const ALLOWED = {
  ALLOWED_TAGS: [
    "p",
    "br",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "s",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
  ],
  ALLOWED_ATTR: ["href", "rel", "target", "class", "dir", "start"],
  ALLOWED_URI_REGEXP: /^(?!\/+sign-in)(?:https?:|mailto:|\/|#)/i,
  // Their values are no addresses; without this the rule for addresses drops them.
  ADD_URI_SAFE_ATTR: ["rel", "target", "dir", "start"],
};

export const rendered = (text: string): string => DOMPurify.sanitize(md.render(text), ALLOWED);
