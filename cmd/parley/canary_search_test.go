package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/url"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
)

// canaries are texts that nobody may come to see, by what they are.
type canaries map[string]string

// forms are the ways in which a text may stand somewhere.
func forms(text string) []string {
	quoted, _ := json.Marshal(text)
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // of a text it never fails
	out := []string{text, url.QueryEscape(text), url.PathEscape(text), string(quoted[1 : len(quoted)-1]), strings.Trim(strings.TrimSpace(plain.String()), `"`)}
	out = append(out, strings.ReplaceAll(html.EscapeString(text), "+", "&#43;"))
	for before := range 3 { // what stands before it shifts it; what is next to it is left out
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			enc := code.EncodeToString(append(make([]byte, before), text...))
			skip := []int{0, 2, 3}[before]
			out = append(out, enc[skip:len(enc)-2])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// search looks for the canaries in a text. what says where it is from.
func (c canaries) search(t *testing.T, what string, text []byte) {
	t.Helper()
	for name, secret := range c {
		for _, form := range forms(secret) {
			i := bytes.Index(text, []byte(form))
			if i < 0 {
				continue
			}
			t.Errorf("%s has %s: …%q…", what, name, text[max(0, i-200):min(len(text), i+len(form)+40)])
			break
		}
	}
}

// searchFolder looks at every file below a folder but those that hold a secret by their nature.
func (c canaries) searchFolder(t *testing.T, dir string, except map[string]string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		rest := c
		if except[filepath.Base(path)] != "" {
			rest = canaries{}
			for name, secret := range c {
				if name != except[filepath.Base(path)] {
					rest[name] = secret
				}
			}
		}
		rest.search(t, path, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// searchArchive looks at every file of a backup.
func (c canaries) searchArchive(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for in := tar.NewReader(z); ; n++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(h.Name) != "config.yaml" { // it is the file that holds them
			c.search(t, "the backup's "+h.Name, b)
		}
	}
	if n < 2 {
		t.Errorf("the backup has %d files", n)
	}
}

// secretFields gives where a type has fields of the type Secret, as paths through its fields.
func secretFields(of reflect.Type, at string, seen []reflect.Type) (out []string) {
	if of == reflect.TypeFor[channels.Secret]() {
		return []string{at}
	}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return secretFields(of.Elem(), at+"[]", seen)
	case reflect.Struct:
		if slices.Contains(seen, of) {
			return nil
		}
		for _, f := range reflect.VisibleFields(of) {
			if f.IsExported() && len(f.Index) == 1 {
				out = append(out, secretFields(f.Type, at+"."+f.Name, append(seen, of))...)
			}
		}
	}
	return out
}

// secretValues gives the Secrets of a value, by the same paths.
func secretValues(v reflect.Value, at string, into map[string][]string) {
	if s, ok := v.Interface().(channels.Secret); ok {
		if !s.IsZero() {
			into[at] = append(into[at], s.Reveal())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			secretValues(v.Elem(), at+map[bool]string{true: "[]"}[v.Kind() == reflect.Pointer], into)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			secretValues(v.Index(i), at+"[]", into)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			secretValues(v.MapIndex(k), at+"[]", into)
		}
	case reflect.Struct:
		for f, x := range v.Fields() {
			if f.IsExported() {
				secretValues(x, at+"."+f.Name, into)
			}
		}
	}
}

// canariesOf gives the secrets of configuration files, and fails for a field that none of them fills: a new field is a new secret.
func canariesOf(t *testing.T, files ...string) canaries {
	t.Helper()
	var table []accounts.Adapter
	values, want := map[string][]string{}, secretFields(reflect.TypeFor[config.Config](), "", nil)
	for _, a := range tables.Adapters() {
		table = append(table, a)
		if a.New != nil {
			want = append(want, secretFields(reflect.TypeOf(a.New()), "."+string(a.Kind), nil)...)
		}
	}
	for _, file := range files {
		c, problems, err := config.Load(file, accounts.Table(table), func(string) string { return "" })
		if err != nil {
			t.Fatalf("%s: %v %v", file, err, problems)
		}
		for _, a := range c.Channels {
			if a.Adapter != nil {
				secretValues(reflect.ValueOf(a.Adapter), "."+string(a.Kind), values)
			}
		}
		bare := *c
		bare.Channels, bare.Disabled = nil, nil
		secretValues(reflect.ValueOf(bare), "", values)
	}
	out := canaries{}
	for _, path := range want {
		if len(values[path]) == 0 {
			t.Errorf("no configuration of this test fills the secret %s", path)
		}
		for i, text := range values[path] {
			if len(text) < 12 {
				t.Errorf("%s is too short to be looked for: %q", path, text)
			}
			out[fmt.Sprintf("%s %d", path, i)] = text
		}
	}
	return out
}
