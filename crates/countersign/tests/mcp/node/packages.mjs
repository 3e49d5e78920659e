// Packages are not beside these files: they are where the variable says.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const modules = process.env.COUNTERSIGN_TEST_NODE_MODULES;
if (!modules) {
  throw new Error("COUNTERSIGN_TEST_NODE_MODULES is not set: run `cargo xtask test`");
}
const { resolve } = createRequire(`${modules}/`);

export const load = (name) => import(pathToFileURL(resolve(name)).href);
