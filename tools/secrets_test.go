package tools

import (
	"slices"
	"testing"

	"parley/channels"
)

// What of an MCP server's configuration is nobody's business: whatever is not plainly a word, a number or a path.
func TestMCPSecrets(t *testing.T) {
	t.Parallel()
	env := func(name, value string) MCPServer {
		return MCPServer{Env: map[string]channels.Secret{name: channels.NewSecret(value)}}
	}
	for name, c := range map[string]struct {
		m    MCPServer
		want []string // of at least 8 bytes
	}{
		"header":            {MCPServer{Headers: map[string]channels.Secret{"X": channels.NewSecret("Bearer plainword")}}, []string{"Bearer plainword", "plainword"}},
		"named":             {env("API_KEY", "wordsonly"), []string{"wordsonly"}},
		"user and password": {env("DATABASE_URL", "postgres://app:hunter22%21@db.example.com/app"), []string{"postgres://app:hunter22%21@db.example.com/app", "app:hunter22%21", "app:hunter22!", "hunter22%21", "hunter22!"}},
		"odd address":       {env("DATABASE_URL", "postgres://app:a/b?c@db/app"), []string{"postgres://app:a/b?c@db/app"}},
		"token as user":     {env("REMOTE", "https://abcdefgh@h/x"), []string{"https://abcdefgh@h/x", "abcdefgh", "abcdefgh"}},
		"hook":              {env("HOOK", "https://h/services/T0000000/a1b2c3d4e5f6a7b8"), []string{"https://h/services/T0000000/a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8"}},
		"pair":              {env("LOGIN", "admin:letmeinnow"), []string{"admin:letmeinnow"}},
		"mixed":             {env("X", "Tr0ub4dor3"), []string{"Tr0ub4dor3"}},
		"uuid":              {env("X", "550e8400-e29b-41d4-a716-446655440000"), []string{"550e8400-e29b-41d4-a716-446655440000"}},
		"base64":            {env("X", "c2VjcmV0IHZhbHVl"), []string{"c2VjcmV0IHZhbHVl"}},
		"long run":          {env("X", "abcdefghijklmnopqrstuvwxyz"), []string{"abcdefghijklmnopqrstuvwxyz"}},
		"words":             {env("MODE", "production, staging"), nil},
		"number":            {env("LIMIT", "10000000"), nil},
		"path":              {env("FOLDER", "/home/u/of/server1:/usr/lib/python3.12"), nil},
		"plain address":     {env("BASE", "http://api.example.com:8080/v1"), nil},
		"locale":            {env("LC_ALL", "en_US.UTF-8"), nil},
		"url":               {MCPServer{URL: "https://user:pass1234@h/mcp?key=abcdefgh&v=1"}, []string{"user:pass1234", "pass1234", "abcdefgh"}},
		"url path":          {MCPServer{URL: "https://h/api/a1b2c3d4e5f6a7b8/mcp"}, []string{"a1b2c3d4e5f6a7b8"}},
		"arguments": {MCPServer{Args: []string{"-y", "@scope/server-everything@2025.1.2", "--folder=/srv/notes", "--token", "wordsonly", "--api-key=otherwords", "-e", "MY_SECRET=thirdword",
			"mysql://u:pass1234@h/db", "sk-a1b2c3d4e5f6a7b8"}}, []string{"mysql://u:pass1234@h/db", "sk-a1b2c3d4e5f6a7b8", "u:pass1234", "otherwords", "wordsonly", "thirdword", "pass1234"}},
	} {
		var got []string
		for _, s := range c.m.Secrets() {
			if len(s.Reveal()) >= 8 {
				got = append(got, s.Reveal())
			}
		}
		if !slices.IsSortedFunc(got, func(a, b string) int { return len(b) - len(a) }) {
			t.Errorf("%s: a shorter one is before a longer one: %q", name, got)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
