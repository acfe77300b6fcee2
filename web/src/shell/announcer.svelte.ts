// Announces messages to screen readers, each once, when it is done.
const SHOWN_MS = 8_000;

class Announcer {
  polite = $state("");
  /** Message that the status bar also shows for a while. */
  shown = $state("");
  #timer: ReturnType<typeof setTimeout> | undefined;
  urgent = $state("");

  say(text: string): void {
    // The same words twice would not be heard again without a change.
    this.polite = this.polite === text ? `${text}\u00a0` : text;
  }
  /** Says something that cannot be seen elsewhere on the screen. */
  show(text: string): void {
    this.say(text);
    this.shown = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.shown = ""), SHOWN_MS);
  }
  interrupt(text: string): void {
    this.urgent = this.urgent === text ? `${text}\u00a0` : text;
  }
}
export const announcer = new Announcer();
