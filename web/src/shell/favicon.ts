// The icon of the tab while something is under way: Skein's own with a ring that fills, or a dot where nobody knows how far it is.
const RADIUS = 5;
const ROUND = 2 * Math.PI * RADIUS;

export function faviconOf(percent: number | undefined): string {
  const done = percent === undefined ? ROUND : (ROUND * Math.max(4, Math.min(100, percent))) / 100;
  const sign =
    percent === undefined
      ? '<circle cx="24" cy="24" r="4" fill="#f5b53d"/>'
      : `<circle cx="24" cy="24" r="${RADIUS}" fill="none" stroke="#6b6f76" stroke-width="3"/>` +
        `<circle cx="24" cy="24" r="${RADIUS}" fill="none" stroke="#f5b53d" stroke-width="3" stroke-dasharray="${done.toFixed(1)} ${ROUND.toFixed(1)}" transform="rotate(-90 24 24)"/>`;
  const drawn =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2c5f5b"/>' +
    '<path d="M8 24V17c0-4 3-6 8-6s8-1 8-3M8 8c0 4 3 6 8 6s8 3 8 6v4" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>' +
    `<circle cx="24" cy="24" r="8" fill="#16181c"/>${sign}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(drawn)}`;
}
