package runtest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// queueModel is what the model of random says of a session.
type queueModel struct {
	queue      []string // inputs
	running    sessions.RunID
	begun      bool // the first of the queue is or was running
	ended      bool // and a newer message came in its place
	transcript []string
	id         sessions.ID
	accepted   int
}

// claimInModel has the model claim what the store has claimed: the first of the queue.
func claimInModel(rt *rapid.T, m *queueModel, r sessions.Run) {
	if r.Input.Text() != m.queue[0] {
		rt.Fatalf("claimed %q, want %q", r.Input.Text(), m.queue[0])
	}
	if r.Attempt == 1 {
		m.transcript = append(m.transcript, m.queue[0])
	}
	m.running, m.begun = r.ID, true
}

// random runs random operations on a few sessions against a model: the queue of each session, what is running, and its transcript.
func random(f *fixture.Store) {
	round := 0
	rapid.Check(f.T, func(rt *rapid.T) {
		round++
		model := map[string]*queueModel{}
		for i := range 3 {
			model[fmt.Sprintf("r%dc%d", round, i)] = &queueModel{}
		}
		chats := []string{fmt.Sprintf("r%dc0", round), fmt.Sprintf("r%dc1", round), fmt.Sprintf("r%dc2", round)}
		n := 0
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			chat := rapid.SampledFrom(chats).Draw(rt, "chat")
			m := model[chat]
			switch rapid.IntRange(0, 9).Draw(rt, "op") {
			case 0, 1:
				m.accepted++
				text := fmt.Sprintf("%s %d", chat, m.accepted)
				a := fixture.NewArrival(chat, fmt.Sprint(m.accepted), text)
				a.Change.Run.Claim = rapid.Bool().Draw(rt, "claim")
				acc := f.MustAccept(a)
				m.queue, m.id = append(m.queue, text), acc.Session.ID
				if want := a.Change.Run.Claim && m.running == ""; want != (acc.Claimed != nil) {
					rt.Fatalf("claimed at once: %v, want %v", acc.Claimed != nil, want)
				}
				if acc.Claimed != nil {
					claimInModel(rt, m, *acc.Claimed)
				}
			case 2:
				if m.accepted > 0 && !f.MustAccept(fixture.NewArrival(chat, fmt.Sprint(rapid.IntRange(1, m.accepted).Draw(rt, "again")), "again")).Duplicate {
					rt.Fatal("a duplicate was accepted")
				}
			case 3:
				r, ok, err := f.Claim(f.Context(), fixture.Key(chat))
				f.OK(err)
				if want := m.running == "" && len(m.queue) > 0; ok != want {
					rt.Fatalf("claimed: %v, want %v", ok, want)
				}
				if ok {
					claimInModel(rt, m, r)
				}
			case 4:
				if m.running != "" {
					n++
					answer := fmt.Sprint("answer ", n)
					f.MustFinish(m.running, sessions.Outcome{Messages: []sessions.Message{fixture.Assistant(answer)}})
					m.running, m.begun, m.ended, m.queue, m.transcript = "", false, false, m.queue[1:], append(m.transcript, answer)
				}
			case 5:
				if m.running != "" {
					n++
					step := fmt.Sprint("step ", n)
					f.OK(f.Record(f.Context(), m.running, fixture.Assistant(step)))
					m.transcript = append(m.transcript, step)
				}
			case 6:
				if m.running != "" {
					_, err := f.MergeQueued(f.Context(), m.running, sessions.MergeQuery{Kind: sessions.TurnRun})
					f.OK(err)
					if !m.ended {
						m.queue, m.transcript = m.queue[:1], append(m.transcript, m.queue[1:]...)
					}
				}
			case 7:
				if _, _, err := f.Recover(f.Context()); err != nil {
					rt.Fatal(err)
				}
				for _, m := range model {
					if m.running != "" && m.ended {
						m.queue, m.begun, m.ended = m.queue[1:], false, false
					}
					m.running = ""
				}
			case 8:
				m.accepted++
				a := fixture.NewArrival(chat, fmt.Sprint(m.accepted), fmt.Sprintf("%s %d drops", chat, m.accepted))
				a.Change.Run.DropOldest = 1
				m.id = f.MustAccept(a).Session.ID
				first := 0
				if m.begun {
					first = 1
				}
				if len(m.queue) > first {
					m.queue = slices.Delete(m.queue, first, first+1)
				}
				m.queue = append(m.queue, a.In.Text)
			case 9:
				m.accepted++
				a := fixture.NewArrival(chat, fmt.Sprint(m.accepted), fmt.Sprintf("%s %d interrupts", chat, m.accepted))
				a.Change.Run.Interrupt = true
				m.queue, m.id, m.ended = append(m.queue, a.In.Text), f.MustAccept(a).Session.ID, m.running != ""
			}
		}
		for chat, m := range model {
			if m.id != "" {
				f.Equal(fixture.Texts(f.MustTail(m.id, sessions.TailQuery{IncludeTool: true, Limit: 1000})), m.transcript)
			}
			_ = chat
		}
	})
}
