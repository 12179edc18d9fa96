package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"parley/sessions"
	"parley/sessions/sqlstore"
)

// ledger reads what a host that was killed was sending: the deliveries that its database has as being sent. Their calls may have
// reached the platform or not, or have been answered and the receipt not been stored. It reads a copy, so that the next host finds the
// files as the last one left them.
type ledger struct {
	seen map[string]bool // deliveries with their tries
}

// underWay counts by platform the sends that were under way. One that the host of the kill before was at, and this one not again, was
// counted then.
func (l *ledger) underWay(ctx context.Context, state string) (sends map[string]int, err error) {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	there, err := copyStore(dir, state)
	if err != nil || !there {
		return nil, err
	}
	s, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("reading what the host was at: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := s.ListDeliveries(ctx, sessions.DeliveryQuery{State: sessions.Sending, Limit: 1000})
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		try := fmt.Sprint(d.ID, d.Part, d.Attempt)
		if l.seen[try] {
			continue
		}
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		if sends == nil {
			sends = map[string]int{}
		}
		l.seen[try] = true
		sends[string(d.To.Channel)]++
	}
	return sends, nil
}

// copyStore copies the files of a store without its lock and what only a running process has; there is false when it has none yet.
func copyStore(to, state string) (there bool, err error) {
	all, err := os.ReadDir(state)
	if err != nil {
		return false, err
	}
	for _, f := range all {
		name := f.Name()
		if !f.Type().IsRegular() || !strings.HasPrefix(name, sqlstore.DatabaseFile) || strings.HasSuffix(name, "-shm") {
			continue
		}
		if err := copyFile(filepath.Join(to, name), filepath.Join(state, name)); err != nil {
			return false, err
		}
		there = there || name == sqlstore.DatabaseFile
	}
	return there, nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
