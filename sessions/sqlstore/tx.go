package sqlstore

import "parley/sessions/sqlstore/engine"

// tx is the transaction that operations write in. Only the writer goroutine touches it.
type tx = engine.Tx
