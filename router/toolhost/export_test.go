package toolhost

// What the tests of package toolhost_test open.

// OutsideKey is the session that an external agent calls from.
var OutsideKey = externalKey

// OfferedTools are the tools that an external agent may have.
var OfferedTools = externalTools
