package toolhost

// What the tests of package toolhost_test open.

// OutsideKey is the session that an agent outside calls from.
var OutsideKey = outsideKey

// OutsideTools are the tools that an agent outside may have.
var OutsideTools = outsideTools
