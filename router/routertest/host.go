package routertest

import "time"

// ExpireInterval is how often the host looks for what is over and for what nobody works on.
const ExpireInterval = 30 * time.Second
