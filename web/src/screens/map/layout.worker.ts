// Lays trees out beside the page, so that it never waits for it.
import { layoutOf, type Layout, type Stage } from "./layout";

export interface LayoutRequest {
  ask: number;
  parent: Int32Array;
}
export type LayoutResponse = { ask: number } & ({ stage: Stage } | { layout: Layout } | { failed: string });

self.onmessage = ({ data: { ask, parent } }: MessageEvent<LayoutRequest>) => {
  const answer = (answered: LayoutResponse, moved: Transferable[] = []) =>
    self.postMessage(answered, { transfer: moved });
  try {
    const layout = layoutOf(parent, (stage) => answer({ ask, stage }));
    answer({ ask, layout }, [layout.x.buffer, layout.y.buffer]);
  } catch (error) {
    answer({ ask, failed: error instanceof Error ? error.message : String(error) });
  }
};
