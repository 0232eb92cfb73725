import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` shows this page on a server that runs elsewhere: BELAYER_URL, with the token in BELAYER_TOKEN.
const server = process.env.BELAYER_URL ?? "http://127.0.0.1:8700";
const token = process.env.BELAYER_TOKEN ?? "";
const headers = { origin: server, authorization: `Bearer ${token}` };
const proxied = { target: server, ws: true, changeOrigin: true, headers };

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    // Goes into the Python package, so that a wheel has it.
    outDir: "../src/belayer/api/pages",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": proxied, "/ws": proxied, "/health": proxied, "/clone-and-generate": proxied } },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    restoreMocks: true,
  },
});
