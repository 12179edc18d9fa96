// Package access authenticates each request to the host's HTTP side, names its principal and its address, and slows down clients that guess.
//
// It stands right of api, whose Principal it puts into the context of a request, and left of server, which serves through it. access.go (Guard) has the order of the
// checks. Here are tokens, the cookies of browsers, codes of `parley open`, the socket of the command line, certificates, and the count of failed attempts. What a
// principal may do is the scope of an operation: gateway/operations gives it, api enforces it.
//
// A Door owns its tokens and cookies, behind an atomic pointer; Apply replaces them, one call at a time (applying). All other mutexes (codes, failures, strangers,
// certificate) are leaves. One goroutine for each request with a time limit ends with that request.
//
// Errors are answers of HTTP: 400, 401, 403, 405, 421 (a name that is not this host's), 429. ErrInUse says that another process has the socket.
package access
