package routertest

import "time"

// ExpireInterval is how often the host looks for what is over and for what no worker has.
const ExpireInterval = 30 * time.Second
