package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/sessions"
)

// importList makes sessions of another program.
func importList(n, messages int) (list []sessions.Import) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	for i := range n {
		key := sessions.Key(fmt.Sprintf("agent:main:telegram:direct:%d", i+1))
		id := uuid.NewSHA1(uuid.NameSpaceURL, []byte(key))
		var msgs []sessions.Message
		for j := range messages {
			role, text := sessions.User, fmt.Sprintf("What grows in garden %d of %d? %s", j, i, strings.Repeat("Beans and peas and more beans. ", 5))
			if j%2 == 1 {
				role = sessions.Assistant
			}
			msgs = append(msgs, sessions.Message{ID: uuid.NewSHA1(id, fmt.Append(nil, j)).String(), Role: role, Content: sessions.TextContent(text), Time: at.Add(time.Duration(j) * time.Minute)})
		}
		list = append(list, sessions.Import{Session: sessions.Session{Key: key, ID: sessions.ID(id.String()), Agent: "main", Updated: at}, Messages: msgs})
	}
	return list
}

// BenchmarkImport: 1,000 sessions of 50 messages, with full sync.
func BenchmarkImport(b *testing.B) {
	list := importList(1000, 50)
	for b.Loop() {
		s, err := Open(b.Context(), Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		for part := range slices.Chunk(list, 40) {
			if _, err := s.Import(b.Context(), part); err != nil {
				b.Fatal(err)
			}
		}
		at := time.Now()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(at).Seconds(), "s-close")
	}
}
