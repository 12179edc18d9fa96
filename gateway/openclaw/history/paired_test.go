package history

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/report"
)

// People who were let in by pairing: rows of the database win over files, for each channel and account; a file without an account is of the
// default one; * is nobody.
// source: openclaw/openclaw docs/channels/pairing.md (06b1341d), pull request 23017
func TestPairedPeople(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.sqlite(database.Shared, "CREATE TABLE channel_pairing_allow_entries(channel_key TEXT, account_id TEXT, entry TEXT, sort_order INTEGER, updated_at INTEGER)",
		"INSERT INTO channel_pairing_allow_entries VALUES ('telegram', 'default', '1001', 0, 1), ('telegram', 'default', '2002', 1, 1), ('whatsapp', 'Work', '+49151', 0, 1), ('telegram', 'default', '*', 2, 1)")
	s.write("credentials/telegram-default-allowFrom.json", `{"version":1,"allowFrom":["3003"]}`) // the rows win
	s.write("credentials/telegram-allowFrom.json", `{"allowFrom":["4004"]}`)                     // of the same account
	s.write("credentials/telegram-work-allowFrom.json", `{"allowFrom":["5005","*","5005"]}`)     // another account
	s.write("credentials/discord-allowFrom.json", `{"allowFrom":["6006"]}`)                      // another channel
	s.write("credentials/discord-default-allowFrom.json", `{"allowFrom":["6006","7007"]}`)       // both names of one account
	s.write("credentials/signal-allowFrom.json", `["8008"]`)                                     // no such file
	s.write("credentials/discord-work-allowFrom.json.migrated", `{"allowFrom":["9009"]}`)        // no longer read
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	d, r := database.New(root), &report.Report{}
	defer func() {
		if err := errors.Join(d.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	}()
	got, err := PairedPeople(t.Context(), root, d, r)
	want := []Paired{{"telegram", "default", "1001"}, {"telegram", "default", "2002"}, {"whatsapp", "work", "+49151"}, {"discord", "default", "6006"}, {"discord", "default", "7007"}, {"telegram", "work", "5005"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	has(t, r.Left, "credentials/signal-allowFrom.json", "pair again")
}
