package sqlstore

import (
	"context"
	"errors"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/row"
)

// chats keeps which chats an account has written to, and which messages are its own.
type chats struct {
	repository

	receipts *engine.Sequence
}

// reached notes the newest message of a chat that has written to a session. A message that comes late moves nothing back, and one
// from the future holds nothing up. Of a message that no session got, each session of the chat counts.
func (s *chats) reached(t *tx, in channels.Inbound, by sessions.Key) error {
	if in.Event != channels.Message || in.ID == "" {
		return nil
	}
	at := engine.Ms(t.Now)
	if sent := engine.Ms(in.Time); sent > 0 {
		at = min(at, sent)
	}
	set, args := "UPDATE heard SET msg = ?, at = ? WHERE address = ? AND at <= ?", []any{string(in.ID), at, in.Address.String(), at}
	if by != "" {
		n, err := t.Exec(set+" AND key = ?", append(args, string(by))...)
		if err != nil || n > 0 {
			return err
		}
	}
	_, err := t.Exec(set, args...)
	return err
}

// Positions gives the newest message of every chat of an account that has a live session.
func (s *chats) Positions(ctx context.Context, kind channels.Kind, id channels.AccountID) (out []channels.Position, err error) {
	p := column.AccountPrefix(kind, id)
	err = s.read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT h.address, h.msg, h.at FROM heard h JOIN sessions s ON s.key = h.key WHERE h.address >= ? AND h.address < ? AND h.msg <> '' AND s.archived = 0 ORDER BY h.address, h.at DESC",
			[]any{p + "/", p + "0"}, func(r engine.Row) error {
				x := channels.Position{Address: column.Address(r.Str(0)), ID: channels.MessageID(r.Str(1)), Time: r.Time(2)}
				if n := len(out); n == 0 || out[n-1].Address != x.Address { // a chat may have written to several sessions
					out = append(out, x)
				}
				return nil
			})
	})
	return out, err
}

// receipt notes that a platform took a message from us.
func (s *chats) receipt(t *tx, d *sessions.Delivery, id channels.MessageID) error {
	if id == "" {
		return nil
	}
	_, err := t.Exec("INSERT INTO receipts (num, chat, msg, delivery, at) VALUES (?, ?, ?, ?, ?)", s.receipts.Next(), column.Key(column.Chat(d.To).String()), column.Key(string(id)), d.Seq, engine.Ms(t.Now))
	return err
}

// ownMessage selects the newest receipt of a message, and then the previews that may be it.
const ownMessage = "SELECT 1, d.body, d.session FROM deliveries d WHERE d.seq = (SELECT x.delivery FROM receipts x JOIN deliveries its ON its.seq = x.delivery WHERE x.chat IN (?, " + move.Before + ") AND x.msg = ? ORDER BY x.num DESC LIMIT 1) " +
	"UNION ALL SELECT 0, address, session FROM previews WHERE msg = ?"

// OwnMessage looks for a message among those that we sent.
func (s *chats) OwnMessage(ctx context.Context, chat channels.Address, id channels.MessageID) (m sessions.OwnMessage, own bool, err error) {
	if id == "" {
		return m, false, nil
	}
	err = s.read(ctx, func(c *engine.Conn) (err error) {
		m = sessions.OwnMessage{}
		// One query: every message that comes is asked about, and nearly none is ours.
		own = false
		isReceipt := false
		return c.Each(ctx, ownMessage, []any{column.Key(column.Chat(chat).String()), move.BeforeOf(chat), column.Key(string(id)), string(id)}, func(r engine.Row) error {
			switch {
			case r.Bool(0): // it comes first
				isReceipt = true
				text, err := row.Text(r.Str(1))
				m, own = sessions.OwnMessage{Session: sessions.Key(r.Str(2)), Text: text}, true
				return err
			case !isReceipt && column.Chat(column.Address(r.Str(1))) == column.Chat(chat):
				m.Session, own = sessions.Key(r.Str(2)), true
			}
			return nil
		})
	})
	return m, own, err
}

// Asked finds the run that a message caused.
func (s *chats) Asked(ctx context.Context, chat channels.Address, id channels.MessageID) (run sessions.Run, found bool, err error) {
	if id == "" {
		return run, false, nil
	}
	found, err = engine.ReadOne(ctx, s.db, "SELECT "+row.RunColumns+" FROM runs WHERE id = (SELECT run FROM seen WHERE msg = ? AND address IN (?, "+move.Before+") AND event = ? ORDER BY num DESC LIMIT 1)",
		[]any{column.Key(string(id)), column.Key(column.Chat(chat).String()), move.BeforeOf(chat), string(channels.Message)}, func(r engine.Row) (err error) {
			run, err = row.ScanOnlyRun(r)
			return err
		})
	return run, found, err
}

// amend changes or withdraws a message that waits. done is false when its turn has begun, or it has none.
func (s *runs) amend(t *tx, a sessions.AmendRun) (stopped []sessions.StoppedRun, done bool, err error) {
	run, at, err := s.run(t, a.Run)
	if errors.Is(err, sessions.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil || run.Status != sessions.Queued || run.Attempt > 0 {
		return nil, false, err
	}
	if a.Gone {
		if err := s.lines.PutBack(t, run); err != nil {
			return nil, false, err
		}
		return []sessions.StoppedRun{{Key: run.Key, ID: run.ID}}, true, s.endStopped(t, bySender, "seq = ?", at.Seq)
	}
	applyAmend(&run.Input, a)
	return nil, true, s.keepRequest(t, run, at)
}

// open decides whether an account may write in a chat, and notes the first time. Only direct chats count, and only where it was not
// asked: other openings are nobody's.
func (s *chats) open(t *tx, to channels.Address, kind sessions.DeliveryKind, now time.Time, o sessions.FirstContactQuota) (ok bool, err error) {
	if to.Type != channels.Direct {
		return true, nil
	}
	known, err := s.opened(t, to)
	if err != nil || known {
		return known, err
	}
	mine := column.Account(to.Channel, to.Account)
	if kind.Asked() {
		mine = ""
	} else if o.Limit > 0 {
		n, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM openings WHERE account = ? AND at >= ? AND at < ?", mine, engine.Ms(o.Since), engine.Ms(o.Until))
		if err != nil || n >= int64(o.Limit) {
			return false, err
		}
	}
	_, err = t.Exec("INSERT INTO openings (chat, account, at) VALUES (?, ?, ?)", column.Chat(to).String(), mine, engine.Ms(now))
	return true, err
}

func (s *chats) opened(t *tx, to channels.Address) (bool, error) {
	return t.Exists("SELECT 1 FROM openings WHERE chat = ?", column.Chat(to).String())
}
