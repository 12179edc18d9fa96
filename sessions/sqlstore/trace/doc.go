// Package trace follows an id of a message, run, delivery or source through all tables, for people who ask what became of it.
//
// It stands right of row and left of sqlstore, whose Store embeds it. It only reads, each path on one connection, so it sees one moment. It owns nothing, takes no lock
// and starts nothing. How far it looks is bounded: maxTraces paths, maxChain runs of a chain, receiptDepth deliveries.
//
// An unknown id is no error: it has no path. Other errors are those of engine and row.
package trace
