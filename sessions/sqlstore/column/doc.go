// Package column encodes values for columns of the store's tables, and decodes them.
//
// It stands left of all repositories. It is pure: it owns nothing, takes no lock and starts nothing.
//
// What platforms, models and tools hand over is made to fit a row here, or is refused with ErrInvalid. Adapters have checked it before. The
// error of a body that cannot be read back wraps ErrCorruptRow.
package column
