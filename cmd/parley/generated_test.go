package main

import (
	"bytes"
	"flag"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"testing"

	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/config/schema"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

// The schema and the reference in docs are what this program's structs and adapters say.
func TestGenerated(t *testing.T) {
	t.Parallel()
	table := accounts.Table(tables.Adapters())
	jsonSchema, err := schema.JSON(table)
	if err != nil {
		t.Fatal(err)
	}
	openAPI, err := gateway.OpenAPI("dev")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"openapi.json": openAPI, "config.schema.json": jsonSchema, "config.md": schema.Reference(table)} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/%s has drifted; write it again with: go test ./cmd/parley -run Generated -update", name)
		}
	}
}

// The example is one that this program takes as it is.
func TestExampleLoads(t *testing.T) {
	t.Parallel()
	getenv := func(string) string { return "" }
	_, problems, err := config.Load(filepath.Join("..", "..", "config.example.yaml"), accounts.Table(tables.Adapters()), getenv)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
