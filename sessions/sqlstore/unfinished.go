package sqlstore

import (
	"context"
	"errors"
	"time"

	"parley/sessions"
)

// TO BE REPLACED by ledger.go, jobs.go, summary.go, overheard.go.

func (s *Store) Spend(ctx context.Context, rows ...sessions.Spend) error { return nil }
func (s *Store) Spent(ctx context.Context, q sessions.SpentQuery) (sessions.Spent, error) {
	return sessions.Spent{}, nil
}
func (s *Store) Spending(ctx context.Context, q sessions.SpentQuery, zone *time.Location) ([]sessions.Spending, error) {
	return nil, nil
}
func (s *Store) Lifts(ctx context.Context, now time.Time) ([]sessions.Lift, error) { return nil, nil }
func (s *Store) ListJobs(ctx context.Context, agent sessions.AgentID) ([]sessions.Job, error) {
	return nil, nil
}
func (s *Store) Fire(ctx context.Context, id string, due, next time.Time, e sessions.Effects) (sessions.Accepted, error) {
	return sessions.Accepted{}, errors.ErrUnsupported
}
func (s *Store) Overheard(ctx context.Context, key sessions.Key) ([]sessions.Overheard, error) {
	return nil, nil
}
func (s *Store) Compact(ctx context.Context, x sessions.Summary) error { return errors.ErrUnsupported }
func (s *Store) Summary(ctx context.Context, id sessions.ID) (sessions.Summary, bool, error) {
	return sessions.Summary{}, false, nil
}
