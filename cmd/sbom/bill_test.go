package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

var built = &debug.BuildInfo{
	GoVersion: "go1.26.8",
	Main:      debug.Module{Path: "parley", Version: "(devel)"},
	Deps: []*debug.Module{
		{Path: "modernc.org/sqlite", Version: "v1.60.1", Sum: "h1:two="},
		{Path: "example.com/old", Version: "v1.0.0", Sum: "h1:old=", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0+incompatible", Sum: "h1:one="}},
	},
	Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-ldflags", Value: "-X main.version=1"}},
}

// TestBill: every module is there once, the replaced one as what replaces it, with Go's sum; and the program's version.
func TestBill(t *testing.T) {
	text, err := bill(built, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range doc.Components {
		sum := ""
		for _, p := range c.Properties {
			sum += " " + p.Name + "=" + p.Value
		}
		got = append(got, c.Ref+" "+c.PURL+sum)
	}
	want := []string{
		"example.com/new@v2.0.0+incompatible pkg:golang/example.com/new@v2.0.0%2Bincompatible go:sum=h1:one=",
		"modernc.org/sqlite@v1.60.1 pkg:golang/modernc.org/sqlite@v1.60.1 go:sum=h1:two=",
		"std@1.26.8 pkg:golang/std@1.26.8",
	}
	if !slices.Equal(got, want) {
		t.Errorf("components:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	program := doc.Metadata.Component
	if program.Type != "application" || program.PURL != "pkg:golang/parley@1.2.3" || len(program.Properties) != 1 || program.Properties[0] != (property{"go:build:GOOS", "linux"}) {
		t.Errorf("the program: %+v", program)
	}
	if doc.Format != "CycloneDX" || doc.SpecVersion != "1.6" {
		t.Errorf("%s %s, want CycloneDX 1.6", doc.Format, doc.SpecVersion)
	}
}

// TestBillOfAFile: the bill of a real program, this test, is the same each time; that of a file that is no Go program is an error.
func TestBillOfAFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var bills [2][]byte
	for i := range bills {
		out := t.TempDir() + "/sbom.json"
		if err := run(self, "", out); err != nil {
			t.Fatal(err)
		}
		if bills[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(bills[0], bills[1]) || !bytes.Contains(bills[0], []byte(`"bom-ref": "std@`)) {
		t.Errorf("two bills of one program:\n%s\n%s", bills[0], bills[1])
	}
	if err := run("bill_test.go", "", t.TempDir()+"/sbom.json"); err == nil || !strings.Contains(err.Error(), "bill_test.go") {
		t.Errorf("a bill of a file that is no program: %v, want an error that names it", err)
	}
}
