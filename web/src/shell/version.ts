// SPDX-License-Identifier: MIT
// The version that the build puts in.

export const version: string = __POSLAB_VERSION__;
