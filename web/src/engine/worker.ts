// SPDX-License-Identifier: MIT
// The worker that trains: the package's own, in a file of the site so that the bundler finds it.

import "poslab/worker";
