// Heights of many rows: which row is at an offset, and where a row begins, in logarithmic time.
export class Heights {
  #tree: Float64Array;
  #own: Float64Array;
  readonly length: number;

  constructor(heights: ArrayLike<number>) {
    this.length = heights.length;
    this.#own = Float64Array.from(heights);
    this.#tree = new Float64Array(this.length + 1);
    for (let at = 1; at <= this.length; at++) {
      this.#tree[at] = (this.#tree[at] ?? 0) + (this.#own[at - 1] ?? 0);
      const above = at + (at & -at);
      if (above <= this.length) this.#tree[above] = (this.#tree[above] ?? 0) + (this.#tree[at] ?? 0);
    }
  }

  of(index: number): number {
    return this.#own[index] ?? 0;
  }

  set(index: number, height: number): void {
    const change = height - this.of(index);
    this.#own[index] = height;
    for (let at = index + 1; at <= this.length; at += at & -at)
      this.#tree[at] = (this.#tree[at] ?? 0) + change;
  }

  /** Offset of a row; at the length itself, the end of the last row. */
  before(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.length); at > 0; at -= at & -at) sum += this.#tree[at] ?? 0;
    return sum;
  }

  get total(): number {
    return this.before(this.length);
  }

  /** The row at an offset; the last one beyond the end. */
  at(offset: number): number {
    let index = 0;
    let left = offset;
    for (let step = 1 << Math.floor(Math.log2(this.length || 1)); step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.length && (this.#tree[next] ?? 0) <= left) {
        index = next;
        left -= this.#tree[next] ?? 0;
      }
    }
    return Math.min(index, Math.max(0, this.length - 1));
  }
}
