package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/report"
)

// Paired is a person whom OpenClaw let in by pairing, whatever the policy of the account is now.
type Paired struct {
	Channel string // in lower case
	Account string // "default" without a name
	ID      string // as OpenClaw writes it
}

// PairedPeople returns the people who were let in by pairing. Rows of the shared database win over files, for each channel and account.
// source: openclaw/openclaw docs/channels/pairing.md (06b1341d)
func PairedPeople(ctx context.Context, root *os.Root, databases *database.Folder, r *report.Report) ([]Paired, error) {
	type account struct{ channel, name string }
	of := map[account]bool{}
	var out []Paired
	rows, err := databases.Rows(ctx, database.Shared, "channel_pairing_allow_entries", "channel_key", "account_id", "entry")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Need(database.Shared, "the paired people cannot be read: "+err.Error())
	}
	for _, row := range rows {
		p := Paired{strings.ToLower(row[0]), defaulted(row[1]), row[2]}
		if p.ID != "*" && p.ID != "" && !slices.Contains(out, p) {
			out = append(out, p)
			of[account{p.Channel, p.Account}] = true
		}
	}
	files, err := fs.ReadDir(root.FS(), "credentials")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Need("credentials", "the paired people cannot be read: "+err.Error())
	}
	var more []Paired
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), "-allowFrom.json")
		if !ok {
			continue
		}
		channel, id, _ := strings.Cut(strings.ToLower(name), "-")
		if of[account{channel, defaulted(id)}] {
			continue
		}
		people, err := allowFile(root, path.Join("credentials", f.Name()))
		if err != nil {
			r.Leave(path.Join("credentials", f.Name()), err.Error()+": let these people pair again")
			continue
		}
		for _, who := range people {
			if p := (Paired{channel, defaulted(id), who}); who != "*" && who != "" && !slices.Contains(more, p) {
				more = append(more, p)
			}
		}
	}
	return append(out, more...), nil
}

func defaulted(account string) string {
	if account = strings.ToLower(strings.TrimSpace(account)); account != "" {
		return account
	}
	return "default"
}

// allowFile reads a file with the people of one account.
func allowFile(root *os.Root, name string) ([]string, error) {
	text, err := readFile(root, name, maxFile)
	if err != nil {
		return nil, err
	}
	var file struct {
		AllowFrom []string `json:"allowFrom"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf(`it is not {"allowFrom": ["…"]}`)
	}
	return file.AllowFrom, nil
}
