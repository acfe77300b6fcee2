// Writes a brotli and a gzip variant beside every file of dist that becomes smaller by it.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const TEXT = /\.(html|js|css|svg|json|txt|webmanifest)$/;
const SMALLEST = 512;

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
const gzip = (bytes) => gzipSync(bytes, { level: 9 });

// The start page is written anew for every visitor: its policy has a nonce.
const files = (await readdir(DIST, { recursive: true })).filter(
  (name) => TEXT.test(name) && name !== "index.html",
);
for (const name of files) {
  const bytes = await readFile(join(DIST, name));
  if (bytes.length < SMALLEST) continue;
  for (const [ending, compress] of [
    ["br", brotli],
    ["gz", gzip],
  ]) {
    await writeFile(join(DIST, `${name}.${ending}`), compress(bytes));
  }
}
