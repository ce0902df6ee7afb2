// SPDX-License-Identifier: MIT
// Serves a built folder over HTTP for `npm start` and the browser tests, through sirv. Takes the next free port when
// the wanted one is taken.

import { createServer } from "node:http";
import sirv from "sirv";
import { siteFolder } from "./locations.mjs";

const kPortsToTry = 20;

/** Starts serving; resolves to { url, close }. Port 0 takes any free one. */
export async function serveSite({ folder = siteFolder, port = 0, host = "127.0.0.1" } = {}) {
  const serve = sirv(folder, { etag: true, setHeaders: setCaching });
  const server = createServer((request, response) =>
    serve(request, response, () => {
      response.writeHead(404, { "Content-Type": "text/plain" });
      response.end("Not found\n");
    }),
  );
  const taken = await listen(server, port, host);
  return {
    url: `http://${host}:${taken}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function setCaching(response, path) {
  // Names of built assets carry a digest of their contents; everything else is asked for again.
  response.setHeader("Cache-Control", path.startsWith("/assets/") ? "public,max-age=31536000,immutable" : "no-cache");
}

async function listen(server, wanted, host) {
  for (let port = wanted; ; port += 1) {
    try {
      return await new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          resolve(server.address().port);
        });
      });
    } catch (error) {
      if (error.code !== "EADDRINUSE" || wanted === 0 || port >= wanted + kPortsToTry) throw error;
    }
  }
}
