// Package catalogue tells what is publicly known of language models: window, prices, pictures, efforts.
//
// It stands left of models, its one user, and keeps the library with the data (charm.land/catwalk) behind one face. The data is built into the program; nothing is asked
// over the network. It is read once, at the first question, and does not change: no lock, no goroutine.
//
// A model that is not known is no error: nothing is said of it.
package catalogue
