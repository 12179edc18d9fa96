package transcript

import (
	"context"
	"math"
	"sync"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Message.Number is the place of a message in its transcript: it counts no message of another session, as seq does (contract V4). It is
// counted and not stored. Messages are only ever appended, and a transcript goes as a whole, so a place never changes; a database of any
// size has the numbers without a migration, and a write costs nothing. The index alone is read, from the last place that was asked for.

// messagePlace is a message's seq and its number.
type messagePlace struct{ seq, number int64 }

// maxPlaces bounds the transcripts whose last place is remembered.
const maxPlaces = 1024

// places remembers one place in each transcript, so that neighbours are not counted from the beginning again.
type places struct {
	mu   sync.Mutex
	last map[int64]messagePlace // by transcripts.num, which is not given twice while the store is open
}

func (p *places) near(transcript int64) messagePlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[transcript]
}

func (p *places) remember(transcript int64, at messagePlace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || len(p.last) >= maxPlaces {
		p.last = map[int64]messagePlace{}
	}
	p.last[transcript] = at
}

// number counts the messages of a transcript up to seq, that one included.
func (p *places) number(ctx context.Context, c *engine.Conn, transcript, seq int64) (int64, error) {
	at := p.near(transcript)
	n, err := c.Number(ctx, "SELECT count(*) FROM messages WHERE transcript = ? AND seq > ? AND seq <= ?", transcript, min(at.seq, seq), max(at.seq, seq))
	if err != nil {
		return 0, err
	}
	if seq < at.seq {
		n = -n
	}
	at = messagePlace{seq: seq, number: at.number + n}
	p.remember(transcript, at)
	return at.number, nil
}

// seq finds the message with a number; math.MaxInt64 when there is none so high.
func (p *places) seq(ctx context.Context, c *engine.Conn, transcript, number int64) (int64, error) {
	at := p.near(transcript)
	if number <= at.number {
		at = messagePlace{}
	}
	seq := int64(math.MaxInt64)
	_, err := c.One(ctx, "SELECT seq FROM messages WHERE transcript = ? AND seq > ? ORDER BY seq LIMIT 1 OFFSET ?", []any{transcript, at.seq, number - at.number - 1},
		func(r engine.Row) error { seq = r.Int(0); return nil })
	return seq, err
}

// fill numbers messages of a transcript, oldest first. whole says that none between them was left out.
func (p *places) fill(ctx context.Context, c *engine.Conn, transcript int64, msgs []sessions.Message, whole bool) error {
	if len(msgs) == 0 {
		return nil
	}
	first, last := msgs[0].Seq, msgs[len(msgs)-1].Seq
	n, err := p.number(ctx, c, transcript, first)
	if err != nil {
		return err
	}
	if whole {
		for i := range msgs {
			msgs[i].Number = int32(n) + int32(i)
		}
		return nil
	}
	i := 0
	return c.Each(ctx, "SELECT seq FROM messages WHERE transcript = ? AND seq BETWEEN ? AND ? ORDER BY seq", []any{transcript, first, last}, func(r engine.Row) error {
		if i < len(msgs) && r.Int(0) == msgs[i].Seq {
			msgs[i].Number = int32(n)
			i++
		}
		n++
		return nil
	})
}
