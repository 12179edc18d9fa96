package router_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

// BenchmarkSessionsList measures the whole tool sessions_list, 50 rows of 100,000 sessions, and sessions_search beside it, on the
// folder that the store's own benchmark fills (PARLEY_BENCH_LARGE, see docs/performance.md).
func BenchmarkSessionsList(b *testing.B) {
	dir := os.Getenv("PARLEY_BENCH_LARGE")
	if dir == "" {
		b.Skip("set PARLEY_BENCH_LARGE to the folder that go test ./sessions/sqlstore -bench Large has filled")
	}
	store, err := sqlstore.Open(b.Context(), sqlstore.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	set := routertest.SettingsFor(func(s *settings.Snapshot) { s.Tools.Sessions.Visibility = tools.VisibleAgent })
	r := router.New(router.Deps{Store: store, Settings: set, Log: slog.New(slog.DiscardHandler), Tools: tools.All, TranscriptPath: store.TranscriptPath})
	all, err := store.List(b.Context(), sessions.Query{Agent: "main", Limit: 1})
	if err != nil || len(all) == 0 {
		b.Fatalf("no session in %s: %v", dir, err)
	}
	for name, args := range map[string]string{"sessions_list": `{}`, "sessions_search": `{"query":"train hamburg"}`} {
		i := slices.IndexFunc(r.Rights.Tools, func(t tools.Tool) bool { return t.Spec().Name == name })
		if i < 0 {
			b.Fatal("there is no tool " + name)
		}
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				res, err := r.Rights.Tools[i].Call(b.Context(), tools.Call{ID: "c", Args: json.RawMessage(args), Caller: tools.Caller{Session: all[0]}})
				took = append(took, time.Since(began))
				if err != nil || res.IsError || strings.Contains(res.Text, `"count":0,`) {
					b.Fatal(res.Text, err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
