// Smooths the rate of a task, so that the remaining time does not jump.
const SMOOTHING = 0.3;
const TELLS_AFTER_MS = 400;

export class Pace {
  #last: { value: number; at: number } | undefined;
  #rate: number | undefined;

  /** Units per second, once there is enough to say so. */
  at(value: number, nowMs: number): number | undefined {
    if (!this.#last) {
      this.#last = { value, at: nowMs };
      return undefined;
    }
    const seconds = (nowMs - this.#last.at) / 1000;
    if (seconds * 1000 < TELLS_AFTER_MS || value <= this.#last.value) return this.#rate;
    const now = (value - this.#last.value) / seconds;
    this.#rate = this.#rate === undefined ? now : this.#rate + SMOOTHING * (now - this.#rate);
    this.#last = { value, at: nowMs };
    return this.#rate;
  }
}

/** Slow rates are shown per minute. */
export function shownRate(perSecond: number, unit: string): string {
  if (perSecond >= 1) return `${Math.round(perSecond).toLocaleString()} ${unit}/s`;
  return `${Math.max(1, Math.round(perSecond * 60))} ${unit}/min`;
}

export function shownDuration(seconds: number): string {
  if (seconds < 1) return "< 1 s";
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
