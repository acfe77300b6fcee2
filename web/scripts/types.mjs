// Writes src/api/schema.d.ts from the API document; with --check it only says whether they agree.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../../openapi/skein.json", import.meta.url);
const TYPES = new URL("../src/api/schema.d.ts", import.meta.url);

const made = `// Made by \`npm run types\` from openapi/skein.json.\n\n${astToString(await openapiTS(DOCUMENT, { emptyObjectsUnknown: true, defaultNonNullable: false }))}`;
if (process.argv.includes("--check")) {
  const kept = await readFile(TYPES, "utf8").catch(() => "");
  if (kept !== made) {
    console.error("src/api/schema.d.ts does not agree with openapi/skein.json: npm run types");
    process.exit(1);
  }
} else {
  await writeFile(TYPES, made);
}
