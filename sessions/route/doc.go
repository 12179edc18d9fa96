// Package route decides which agent answers a message, and which session the message belongs to: bindings, scopes and identity links.
//
// It stands right of sessions, which has the keys and the section session of the configuration. Table.Key decides; how a key is written is in sessions/key.go. A Table
// is data that is replaced as a whole with the configuration; it owns nothing, takes no lock and starts nothing. Whether a message is answered at all is decided
// elsewhere, in policy and router/admission.
//
// There are no errors: each message has a route, the last one being the default agent. Check lists what is wrong with a Table, for those who configure it.
package route
