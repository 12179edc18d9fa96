package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/convert"
	"parley/sessions"
)

// pairedSuffix ends the names of the files that keep paired people.
const pairedSuffix = "-allowFrom.json"

// paired reads the people whom OpenClaw let in by pairing from files: credentials/<channel>-<account>-allowFrom.json, and the older
// credentials/<channel>-allowFrom.json, which is about the account default.
func (x *reader) paired() (out []convert.Person) {
	files, err := fs.ReadDir(x.files, "credentials")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.Report.Leave("credentials", "it cannot be read: "+err.Error())
	}
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), pairedSuffix)
		if !ok || f.IsDir() {
			continue
		}
		channel, account, _ := strings.Cut(base, "-")
		if account == "" {
			account = string(channels.DefaultAccount)
		}
		name := path.Join("credentials", f.Name())
		people, err := x.allowed(name)
		if err != nil {
			x.Report.Leave(name, err.Error())
			continue
		}
		for _, id := range people {
			p := convert.Person{Channel: channels.Kind(strings.ToLower(channel)), Account: channels.AccountID(account), ID: channels.UserID(id)}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// allowed reads one file of paired people.
func (x *reader) allowed(name string) ([]string, error) {
	text, err := x.read(name)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	var file struct {
		AllowFrom []any `json:"allowFrom"`
	}
	if err := json.Unmarshal(text, &file); err != nil && json.Valid(text) {
		return nil, errors.New(`it is not {"allowFrom": ["…"]}: let the people pair again`)
	} else if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	var out []string
	for _, p := range file.AllowFrom {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case float64:
			out = append(out, fmt.Sprintf("%.0f", p))
		}
	}
	return out, nil
}

// PairedStore keeps people who were let in; sqlstore.Store is one.
type PairedStore interface {
	ImportPaired(ctx context.Context, list []sessions.Admitted) (added int, err error)
}

// KeepPaired writes the paired people into parley's own list, and returns how many are new.
func (r *Result) KeepPaired(ctx context.Context, to PairedStore) (added int, err error) {
	var all []sessions.Admitted
	for _, p := range r.Paired {
		all = append(all, sessions.Admitted{Channel: p.Channel, Account: p.Account, User: p.ID})
	}
	if len(all) == 0 {
		return 0, nil
	}
	return to.ImportPaired(ctx, all)
}
