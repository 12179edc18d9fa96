// Package gatewaytest has whole hosts for tests: Host with the account of a fake platform, and Outside with open doors for programs of others.
//
// It stands right of gateway. Linked is an account that a person links and which takes updates by HTTP; a Script is a model that answers as the test says. Tests of single
// packages do not need it: a whole host takes about a second.
//
// Each type guards its own fields with a mutex that is a leaf. The goroutines of a host end with its test. A test fails where something cannot be done; there are no
// errors but those that a test wants.
package gatewaytest
