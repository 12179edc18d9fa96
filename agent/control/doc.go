// Package control decides what the text of an agent is: words for others, a control word that asks for silence, or both. Every producer
// and every surface asks it, so that none shows what another one keeps silent about.
//
// It stands left of agent and imports wire/markup alone. Its functions are pure: a text and the Place where it would be shown give a
// Reading, or the part of a draft that may be shown already. marks.go knows what models put around a word.
//
// It owns nothing, takes no lock and starts nothing. There are no errors: every text has a reading.
package control
