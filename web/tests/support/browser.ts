/** Debian's Chromium, and what keeps it from talking to anybody by itself. */
export const CHROMIUM = process.env.SKEIN_CHROMIUM ?? "/usr/bin/chromium";
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
