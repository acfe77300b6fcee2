// What is said to people who hear the page. Each thing is said once, when it is done.
class Announcer {
  polite = $state("");
  urgent = $state("");

  say(text: string): void {
    // The same words twice would not be heard again without a change.
    this.polite = this.polite === text ? `${text}\u00a0` : text;
  }
  interrupt(text: string): void {
    this.urgent = this.urgent === text ? `${text}\u00a0` : text;
  }
}
export const announcer = new Announcer();
