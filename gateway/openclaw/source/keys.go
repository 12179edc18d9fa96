package source

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"parley/gateway/configfile"
	"parley/gateway/openclaw/jsontree"
)

// keyVariable returns the name of the variable that holds the key of a model provider.
func keyVariable(provider string) string {
	if provider = strings.ToLower(provider); provider == "google" {
		return "GEMINI_API_KEY"
	}
	return configfile.VariableName(provider, "API_KEY")
}

// keyReader takes the keys that OpenClaw stored for model providers into the profiles of Variables.
type keyReader struct {
	*Variables
	order map[string]any // auth.order: profiles by provider, the preferred ones first
}

// store is OpenClaw's file of keys: by profile, in its first form by provider.
type store struct {
	Profiles map[string]profile `json:"profiles"`
}

type profile struct {
	Type     string `json:"type"`
	Mode     string `json:"mode"`
	Provider string `json:"provider"`
	Key      string `json:"key"`
	KeyRef   any    `json:"keyRef"`
}

// all reads the keys that OpenClaw stored for model providers: files and databases of all agents, the default agent's first.
func (s *keyReader) all(first string) {
	var agents []string
	if list, err := fs.ReadDir(s.folder.Root.FS(), "agents"); err == nil {
		for _, a := range list {
			agents = append(agents, a.Name())
		}
	}
	if i := slices.Index(agents, first); i > 0 {
		agents = slices.Insert(slices.Delete(agents, i, i+1), 0, first)
	}
	for _, a := range agents {
		dir := path.Join("agents", a, "agent")
		s.rows(path.Join(dir, "openclaw-agent.sqlite"), "auth_profile_store", "store_json", "")
		s.keysOf(path.Join(dir, "auth-profiles.json"))
		s.keysOf(path.Join(dir, "auth.json"))
	}
	s.rows("state/openclaw.sqlite", "config_machine_state", "value_json", "authProfiles.store")
	s.rows("state/openclaw.sqlite", "auth_profile_stores", "store_json", "")
	s.keysOf("agent/auth-profiles.json")
	s.keysOf("agent/auth.json")
}

// rows reads stored keys from a table. key selects the row of a table of several things.
func (s *keyReader) rows(file, table, column, key string) {
	columns := []string{column}
	if key != "" {
		columns = append(columns, "state_key")
	}
	rows, err := s.folder.Rows(file, table, columns...)
	if err != nil {
		s.folder.Report.Leave(file+": "+table, fmt.Sprintf("the stored keys cannot be read: %v", err))
	}
	for _, r := range rows {
		if len(r) == len(columns) && (key == "" || r[1] == key) {
			s.takeKeys(file+": "+table, []byte(r[0]))
		}
	}
}

func (s *keyReader) keysOf(file string) {
	text, err := s.folder.open(file)
	if err != nil {
		return // most agents have none
	}
	s.takeKeys(file, text)
}

// takeKeys takes the API keys of a store. Accounts of subscriptions stay out: they belong to OpenClaw's own sign-in.
func (s *keyReader) takeKeys(what string, stored []byte) {
	var all store
	err := json.Unmarshal(stored, &all)
	if all.Profiles == nil && err == nil {
		err = json.Unmarshal(stored, &all.Profiles)
	}
	if err != nil {
		s.folder.Report.Leave(what, "the stored keys cannot be read: set the key of each model provider in the environment")
		return
	}
	names := slices.Sorted(maps.Keys(all.Profiles))
	for _, provider := range slices.Sorted(maps.Keys(s.order)) {
		order, _ := s.order[provider].([]any)
		for _, v := range slices.Backward(order) { // the preferred ones first
			if i := slices.Index(names, jsontree.Text(v)); i >= 0 {
				names = slices.Insert(slices.Delete(names, i, i+1), 0, jsontree.Text(v))
			}
		}
	}
	for _, name := range names {
		p := all.Profiles[name]
		if p.Provider == "" {
			p.Provider, _, _ = strings.Cut(name, ":")
		}
		variable := keyVariable(p.Provider)
		if kind := p.Type + p.Mode; kind != "api_key" && kind != "" {
			s.folder.Report.Leave(what+": "+name, "it is an account of a subscription: set an API key in "+variable)
			continue
		}
		key := strings.TrimSpace(p.Key)
		if ref := jsontree.Object(p.KeyRef); ref != nil {
			key = s.deref(ref)
		}
		if m := variableOf(key); m != "" {
			key = s.Getenv(m)
		}
		if s.profiles[variable] == "" && key != "" {
			s.profiles[variable] = key
		}
	}
}
