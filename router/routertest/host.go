package routertest

import "time"

// ExpireEvery is how often the host looks for what is over and for what nobody works on.
const ExpireEvery = 30 * time.Second
