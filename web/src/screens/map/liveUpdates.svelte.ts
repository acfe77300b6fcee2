// Keeps a map in step with what happens elsewhere: in other tabs, by runs, by other clients.
import { call } from "../../api/client";
import { onResync, onServerEvent, type ServerEvent } from "../../api/events";
import type { MapState } from "./map.svelte";

const WAIT_MS = 400;
const WAIT_LARGE_MS = 4_000;
const LARGE = 20_000;

export function keepInStep(map: MapState): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    const wait = (map.forest?.size ?? 0) > LARGE ? WAIT_LARGE_MS : WAIT_MS;
    timer ??= setTimeout(() => {
      timer = undefined;
      void map.load();
    }, wait);
  };
  const isOurs = async (told: ServerEvent): Promise<boolean> => {
    if (told.subject === map.conversation || map.forest?.at(told.subject) !== undefined) return true;
    if (!told.event.startsWith("node.")) return told.event === "path.moved";
    const node = await call("get", "/api/v1/nodes/{id}", { params: { id: told.subject } });
    return node.conversationId === map.conversation;
  };
  const hear = (told: ServerEvent) => {
    if (!/^(node|path|frame|conversation)\./.test(told.event)) return;
    isOurs(told).then(
      (ours) => ours && soon(),
      () => undefined,
    );
  };
  const stops = [onServerEvent(hear), onResync(soon)];
  return () => {
    clearTimeout(timer);
    stops.forEach((stop) => stop());
  };
}
