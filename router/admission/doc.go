// Package admission decides who may talk to the host: access rules, pairing, bot limits.
//
// It stands between toolhost and command. A Controller answers for each message whether its sender is let in; it keeps requests for
// pairing in the store and lets owners decide on them.
//
// In memory it keeps only the groups that the log was told of. The mutex of that list is a leaf. The package starts no goroutine.
//
// Errors wrap ErrNotFound for a code or a person that is not known, or are the store's.
package admission
