// Package row reads and writes the rows of runs and deliveries: which columns they have, and what is in their JSON bodies.
//
// It stands right of session and left of trace and move; the queues of runs and the states of deliveries are changed in sqlstore, which these rows do not know. A new field of
// sessions.Run or sessions.Delivery that is stored gets its place here. It is pure but for the readers that take a connection: it owns nothing, takes no lock and starts
// nothing.
//
// Errors wrap ErrNotFound (no such row), ErrInvalid (a value that no row can hold) and ErrCorruptRow (a body that cannot be read back).
package row
