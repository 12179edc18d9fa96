// Command architecture draws docs/architecture.svg from the imports of the source tree: a band for each folder of the import line, a box
// for each package, a line for each import that no other import implies. The picture cannot drift: a test compares it.
//
//	go run ./cmd/architecture          writes the picture to standard output
//	go test ./cmd/architecture -update writes docs/architecture.svg
//
// It ends with an error when a package imports from its right, since such a tree has no picture.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

// run draws the tree below root.
func run(root string) error {
	g, err := read(root)
	if err != nil {
		return err
	}
	text, err := draw(g)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(text)
	return err
}
