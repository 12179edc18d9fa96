package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// document is a CycloneDX bill of materials, as far as it is needed here. It has no serial number and no time: both would make two
// bills of one program differ.
type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// settings are those of the build that say which program it is.
var settings = []string{"GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision", "vcs.modified"}

// bill makes the bill of materials of what was built.
func bill(info *debug.BuildInfo, version string) ([]byte, error) {
	program := library(&debug.Module{Path: info.Main.Path, Version: cmp.Or(version, info.Main.Version)})
	program.Type = "application"
	for _, s := range info.Settings {
		if slices.Contains(settings, s.Key) {
			program.Properties = append(program.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	doc := document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{program}}
	doc.Components = append(doc.Components, library(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace // what is in the program
		}
		doc.Components = append(doc.Components, library(m))
	}
	slices.SortFunc(doc.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(doc)
	return out.Bytes(), err
}

// library is a module as a component. Go's own sum is a property: it is a hash over the list of the module's files and their hashes,
// none of a file that other tools could compare.
func library(m *debug.Module) component {
	c := component{Type: "library", Ref: m.Path + "@" + m.Version, Name: m.Path, Version: m.Version}
	c.PURL = "pkg:golang/" + m.Path
	if m.Version != "" {
		c.PURL += "@" + url.QueryEscape(m.Version) // "+incompatible" has a plus
	}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
