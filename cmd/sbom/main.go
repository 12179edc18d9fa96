// Command sbom writes the software bill of materials of a built Go program: which modules are in it, in which versions. It reads what
// the Go linker wrote into the file, so that it tells of what is shipped and not of what go.mod would allow. The output is
// CycloneDX 1.6 as JSON (https://cyclonedx.org/docs/1.6/json/), and for the same program always the same bytes.
//
//	go run ./cmd/sbom [-version 1.2.3] PROGRAM > sbom.cdx.json
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
)

func main() {
	version := flag.String("version", "", "the program's version; without it, the one that Go wrote into the file")
	output := flag.String("o", "", "the file to write; without it, standard output")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: sbom [-version VERSION] [-o FILE] PROGRAM")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *version, *output); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run reads the program and writes its bill.
func run(program, version, output string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err // it names the file
	}
	text, err := bill(info, version)
	if err != nil {
		return err
	}
	if output == "" {
		_, err = os.Stdout.Write(text)
		return err
	}
	return os.WriteFile(output, text, 0o644) //nolint:gosec // it is published
}
