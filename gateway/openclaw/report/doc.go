// Package report collects what becomes of everything that an import finds: what a person must do, what differs, what is left out.
//
// It is the lowest package of the import and knows neither configurations nor sessions. A Report is filled by one goroutine; the
// caller owns it. It holds no secret: who writes a line passes names and reasons, never values of keys.
package report
