// SPDX-License-Identifier: MIT
// Names that the build puts in (vite.config.ts).

declare const __POSLAB_VERSION__: string;
