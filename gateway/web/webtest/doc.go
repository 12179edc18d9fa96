// Package webtest drives the chat page with a real browser in tests, and stands in for the host behind it.
//
// It stands right of web. Host is a page over an Answer that the test gives, with a connection that can lose what is sent (lossy.go); Browser is a Chrome that the test
// closes, whose console counts as part of the test (console.go).
//
// Each of its types guards its own fields with a mutex that is a leaf. A browser and its goroutines end with the test. A test fails where something cannot be done;
// there are no errors.
package webtest
