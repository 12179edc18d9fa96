package sqlstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/transcript"
)

func openBench(b *testing.B, dir string) *Store {
	b.Helper()
	return openBenchAt(b, Config{Dir: dir})
}

func openBenchAt(b *testing.B, conf Config) *Store {
	b.Helper()
	s, err := Open(context.Background(), conf)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func chat(i int) (sessions.Key, channels.Address) {
	a := channels.Address{Channel: "telegram", Account: "default", Chat: channels.ChatID(fmt.Sprint(1000 + i)), Type: channels.Direct}
	return sessions.Key(fmt.Sprintf("agent:main:telegram:direct:%d", 1000+i)), a
}

// life takes one chat message from its acceptance to the receipt of its answer.
func life(ctx context.Context, s *Store, chatNo, n int, question, answer string) error {
	key, addr := chat(chatNo)
	run := sessions.RunID(uuid.NewString())
	now := time.Now()
	_, err := s.Accept(ctx, sessions.Arrival{
		In: channels.Inbound{Event: channels.Message, Address: addr, ID: channels.MessageID(fmt.Sprint(n)), Text: question, Time: now, Cursor: fmt.Sprint(n)},
		Change: &sessions.Change{
			Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main", Last: addr}},
			Run: &sessions.Enqueue{Run: sessions.Run{ID: run, Kind: sessions.TurnRun, Key: key, Agent: "main", Reply: addr, Source: fmt.Sprint(n), Input: sessions.Message{
				ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(question), Time: now, Run: run,
				Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "1001", Name: "Ann", Address: addr, Message: fmt.Sprint(n), Channel: "telegram"}}}},
		},
	})
	if err != nil {
		return err
	}
	if _, ok, err := s.Claim(ctx, key); err != nil || !ok {
		return fmt.Errorf("claim: %v %w", ok, err)
	}
	msg := sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(answer), Time: now, Run: run, Model: "mock/mock-1", Usage: &sessions.Usage{Input: 100, Output: 20}, Stop: "stop"}
	id := sessions.DeliveryID(uuid.NewString())
	if _, err := s.Finish(ctx, run, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{msg}, Result: answer, Usage: *msg.Usage, Context: 120,
		Deliveries: []sessions.Delivery{{ID: id, Kind: sessions.Reply, Session: key, Run: run, Message: msg.ID, To: addr, Text: answer, Expires: now.Add(time.Hour)}}}); err != nil {
		return err
	}
	if _, err := s.BeginSend(ctx, id, now, func(sessions.Session) policy.Verdict {
		return policy.Verdict{Action: policy.Allow, Rule: "session.sendPolicy.default", Reason: "nothing denies it"}
	}, sessions.FirstContactQuota{}); err != nil {
		return err
	}
	return s.PartSent(ctx, id, channels.Receipt{ID: channels.MessageID(fmt.Sprint("r", n)), At: now}, true)
}

const (
	someQuestion = "Could you look up when the next train to Hamburg leaves and tell me which platform it goes from?"
	someAnswer   = "The next train to Hamburg leaves at 14:32 from platform 7. It takes two hours and ten minutes; there is a later one at 15:32, which stops in Hannover and Uelzen as well."
)

func BenchmarkMessageLife(b *testing.B) {
	for _, chats := range []int{1, 100} {
		b.Run(fmt.Sprintf("chats=%d", chats), func(b *testing.B) {
			s := openBench(b, b.TempDir())
			defer s.Close()
			ctx := context.Background()
			var n atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			before := cpu()
			var wg sync.WaitGroup
			for c := range chats {
				wg.Go(func() {
					for {
						i := n.Add(1)
						if i > int64(b.N) {
							return
						}
						if err := life(ctx, s, c, int(i), someQuestion, someAnswer); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(cpu()-before)/1e3/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// How long one message takes when nobody else is there, and what the slow ones take.
func BenchmarkMessageAlone(b *testing.B) {
	lifeAlone(b, Config{Dir: b.TempDir()})
}

func BenchmarkMessageAlonePostgres(b *testing.B) {
	lifeAlone(b, Config{Dir: b.TempDir(), DSN: postgresDSN(b)})
}

func lifeAlone(b *testing.B, conf Config) {
	b.Helper()
	s := openBenchAt(b, conf)
	defer s.Close()
	spread(b, func(i int) error { return life(context.Background(), s, 1, i, someQuestion, someAnswer) })
}

// One small write after another.
func BenchmarkProbePostgres(b *testing.B) {
	s := openBenchAt(b, Config{Dir: b.TempDir(), DSN: postgresDSN(b)})
	defer s.Close()
	spread(b, func(int) error { return s.Probe(context.Background()) })
}

func BenchmarkOpenFresh(b *testing.B) {
	base := b.TempDir()
	for i := range b.N {
		s := openBench(b, fmt.Sprint(base, "/", i))
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

func BenchmarkOpenAgain(b *testing.B) {
	dir := b.TempDir()
	openBench(b, dir).Close()
	b.ResetTimer()
	for range b.N {
		s := openBench(b, dir)
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// large gives a store with many sessions and messages, made once for all benchmarks: PARLEY_BENCH_LARGE names the folder that
// keeps it, e.g. /var/tmp/parley-large.
func large(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("PARLEY_BENCH_LARGE")
	if dir == "" {
		b.Skip("PARLEY_BENCH_LARGE names no folder for a store of 100,000 sessions and 1,000,000 messages")
	}
	s := openBench(b, dir)
	defer s.Close()
	ctx := context.Background()
	n, err := s.db.Writer().Number(ctx, "SELECT count(*) FROM sessions")
	if err != nil {
		b.Fatal(err)
	}
	const total, each = 100_000, 10
	names := []string{"Hamburg", "Berlin", "Bremen", "Köln", "Mainz", "Ulm", "Jena"}
	for i := int(n); i < total; i += 500 {
		if err := s.write(ctx, "Fill", func(t *tx) error {
			for j := i; j < i+500; j++ {
				key, addr := chat(j)
				k, err := s.changes.sessions.Upsert(t, sessions.Session{Key: key, Agent: "main", Last: addr, Title: fmt.Sprint("Chat ", j), Updated: time.Unix(1_700_000_000+int64(j), 0)})
				if err != nil {
					return err
				}
				msgs := make([]sessions.Message, each)
				for m := range msgs {
					text := fmt.Sprintf("%s: train %d to %s at %d:%02d", someQuestion, j*each+m, names[(j+m)%len(names)], m, j%60)
					if (j*each+m)%10_000 == 0 {
						text += " needle"
					}
					msgs[m] = sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent(text), Time: time.Now()}
				}
				w, err := s.transcripts.Encode("", msgs...)
				if err != nil {
					return err
				}
				if err := s.transcripts.Append(t, transcript.Slot{Transcript: k.Transcript, Key: key, Agent: "main", Session: k.ID}, w, nil); err != nil {
					return err
				}
				s.runs.files.Begin() // the lines are not of interest here
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// spread reports the middle and the slow end of what f takes.
func spread(b *testing.B, f func(i int) error) {
	b.Helper()
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		if err := f(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "max-ms")
}

func BenchmarkLarge(b *testing.B) {
	dir := large(b)
	b.Run("Open", func(b *testing.B) {
		spread(b, func(int) error { s := openBench(b, dir); b.StopTimer(); defer b.StartTimer(); return s.Close() })
	})
	s := openBench(b, dir)
	defer s.Close()
	ctx := context.Background()
	for name, q := range map[string]sessions.Query{"All": {Limit: 50}, "Agent": {Limit: 50, Agent: "main"}, "Page": {Limit: 50, Offset: 1000}, "Search": {Limit: 50, Search: "chat 9999"}, "SearchNone": {Limit: 50, Search: "nothing like it"}} {
		b.Run("List"+name, func(b *testing.B) {
			spread(b, func(int) error { _, err := s.List(ctx, q); return err })
		})
	}
	key, _ := chat(777)
	keys := func(n int) (out []sessions.Key) { // all over the store
		for i := range n {
			k, _ := chat(i * 97 % 100_000)
			out = append(out, k)
		}
		return out
	}
	for name, q := range map[string]sessions.SearchQuery{"Common": {Text: "train hamburg"}, "Rare": {Text: "needle"}, "None": {Text: "unheard"}, "CommonAndRare": {Text: "train needle"}, "AllCommonNone": {Text: "train platform unheard"},
		"Key": {Text: "train", Keys: []sessions.Key{key}}, "Keys50": {Text: "train", Keys: keys(50)}, "Keys1000": {Text: "train hamburg", Keys: keys(1000)}, "KeysNone": {Text: "needle", Keys: keys(50)}, "Agent": {Text: "needle train", Agents: []sessions.AgentID{"main"}}, "TwoTowns": {Text: "hamburg berlin"}} {
		b.Run("Search"+name, func(b *testing.B) {
			spread(b, func(int) error { _, err := s.Search(ctx, q); return err })
		})
	}
	b.Run("Tail", func(b *testing.B) {
		at, err := s.Get(ctx, key)
		if err != nil {
			b.Fatal(err)
		}
		spread(b, func(int) error { _, err := s.Tail(ctx, at.ID, sessions.TailQuery{Limit: 50}); return err })
	})
	var n atomic.Int64
	b.Run("Life", func(b *testing.B) {
		spread(b, func(i int) error {
			return life(ctx, s, i%1000, int(time.Now().UnixNano()+n.Add(1)), someQuestion, someAnswer)
		})
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.Logf("heap %d MB, sys %d MB", m.HeapInuse>>20, m.Sys>>20)
}

// BenchmarkGigabyte starts and stops a host on a database of 1 GB.
func BenchmarkGigabyte(b *testing.B) {
	dir, ctx := b.TempDir(), context.Background()
	s := openBench(b, dir)
	for range 64 {
		if err := s.write(ctx, "Fill", func(t *tx) error {
			_, err := t.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4096) INSERT INTO messages (id, transcript, run, role, body) SELECT hex(randomblob(16)), 0, 0, 'user', hex(randomblob(1850)) FROM n")
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, DatabaseFile))
	if err != nil {
		b.Fatal(err)
	}
	var start, stop time.Duration
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		s := openBench(b, dir)
		start += time.Since(began)
		began = time.Now()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		stop += time.Since(began)
	}
	b.ReportMetric(float64(info.Size())/1e9, "GB")
	b.ReportMetric(start.Seconds()*1e3/float64(b.N), "start-ms")
	b.ReportMetric(stop.Seconds()*1e3/float64(b.N), "stop-ms")
}
