import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    runes: true,
    // The name of a scope stands at every element it styles: a short one is worth several kilobytes.
    cssHash: ({ hash, css }) => `s${hash(css)}`,
  },
};
