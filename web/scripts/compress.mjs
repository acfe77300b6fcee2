// Writes smaller variants beside the files of dist, and fails when what is embedded or first loaded became too large.
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const MANIFEST = ".vite/manifest.json";
const TEXT = /\.(html|js|css|svg|json|txt|webmanifest)$/;
/** Nearly every browser takes brotli. For one that does not, the server compresses as it answers. */
const BROTLI_BYTES_MIN = 512;
const EMBEDDED_BYTES_MAX = 1_500_000;
/** Compressed JavaScript: what starts the page, and any one screen with all that it imports. */
const FIRST_LOAD_BYTES_MAX = 150_000;

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });

const sizeOf = async (name) => (await stat(join(DIST, name))).size;
const filesOf = async () => {
  const found = await readdir(DIST, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(DIST.length + 1));
};

async function compress() {
  // The start page is written anew for every visitor: its policy has a nonce.
  for (const name of (await filesOf()).filter((name) => TEXT.test(name) && name !== "index.html")) {
    const bytes = await readFile(join(DIST, name));
    if (bytes.length >= BROTLI_BYTES_MIN) await writeFile(join(DIST, `${name}.br`), brotli(bytes));
  }
}

/** The files of a part and of all that it imports at once. */
function withImports(manifest, key, found = new Set()) {
  const { file, imports = [] } = manifest[key];
  if (found.has(file)) return found;
  found.add(file);
  for (const inner of imports) withImports(manifest, inner, found);
  return found;
}
async function compressedSize(name) {
  return sizeOf(`${name}.br`).catch(() => sizeOf(name));
}

/** The screen with which the first load is the largest. */
async function firstLoad(manifest) {
  const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
  const screens = Object.keys(manifest).filter((key) => /^src\/screens\/.*\.svelte$/.test(key));
  const loads = screens.map(async (screen) => {
    const files = [...withImports(manifest, entry), ...withImports(manifest, screen)];
    const scripts = [...new Set(files)].filter((name) => name.endsWith(".js"));
    const sizes = await Promise.all(scripts.map(compressedSize));
    return { screen, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
  return (await Promise.all(loads)).sort((one, other) => other.bytes - one.bytes)[0];
}

const manifest = JSON.parse(await readFile(join(DIST, MANIFEST), "utf8"));
await rm(join(DIST, ".vite"), { recursive: true });
await compress();
const sizes = await Promise.all((await filesOf()).map(sizeOf));
const embedded = sizes.reduce((sum, size) => sum + size, 0);
const { screen, bytes } = await firstLoad(manifest);
const wrong = [
  embedded > EMBEDDED_BYTES_MAX && `dist has ${embedded} bytes; ${EMBEDDED_BYTES_MAX} are allowed`,
  bytes > FIRST_LOAD_BYTES_MAX &&
    `the page with ${screen} loads ${bytes} bytes of JavaScript; ${FIRST_LOAD_BYTES_MAX} are allowed`,
].filter(Boolean);
if (process.argv.includes("--sizes")) console.log({ embedded, firstLoad: bytes, screen });
if (wrong.length > 0) {
  console.error(`web: ${wrong.join("; ")}`);
  process.exit(1);
}
