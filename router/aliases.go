package router

import "parley/sessions"

// ErrWords is sessions.ErrBadRequest.
var ErrWords = sessions.ErrBadRequest
