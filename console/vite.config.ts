import { defineConfig } from "vite";

// The package has the built files under these names; the control port serves nothing else.
export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    outDir: "../broker/fencepost_broker/server/console",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "console.js",
        assetFileNames: "console[extname]",
      },
    },
  },
  // `npm run dev` shows the source beside a broker: fencepost up --console 9080
  server: { proxy: { "/v1": "http://127.0.0.1:9080", "/openapi.json": "http://127.0.0.1:9080" } },
});
