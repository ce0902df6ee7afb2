// SPDX-License-Identifier: MIT
// `npm start`: sets up what is missing, builds what has changed, and serves the built site until Ctrl-C. The first run
// on a bare machine takes minutes and says what it does; later runs take seconds.

import { Stop, isMain, main, say } from "./commands.mjs";
import { setUp } from "./setup.mjs";

const kUsualPort = 4173;

function readPort(options) {
  if (options.length === 0) return Number(process.env.PORT) || kUsualPort;
  const match = /^--port(?:=(\d+))?$/.exec(options[0]);
  const port = Number(match?.[1] ?? options[1]);
  if (!match || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Stop("the only option of npm start is --port NUMBER (npm start -- --port 8080)");
  }
  return port;
}

if (isMain(import.meta.url)) {
  await main(async (options) => {
    const port = readPort(options);
    await setUp();
    // These two need the npm packages that the set-up has just made sure of.
    const { build } = await import("./build.mjs");
    const { serveSite } = await import("./serve.mjs");
    await build();
    const server = await serveSite({ port });
    say(`\nPosLab is at ${server.url}\nCtrl-C stops it.`);
    const stop = () => server.close().then(() => process.exit(0));
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
  });
}
