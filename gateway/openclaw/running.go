package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/locate"
)

// Running returns the sign that OpenClaw uses the folder, "process 12", "port 18789" or "changes in state/openclaw.sqlite"; "" = there is none. It
// reads the leases anew: OpenClaw renews them, and Read may have taken longer than a lease lasts.
func (r *Result) Running(ctx context.Context, getenv func(string) string) string {
	now := time.Now()
	err := r.databases.Release(database.Shared)
	leases, reads := r.leases(ctx)
	if err = errors.Join(err, reads); err != nil && !errors.Is(err, database.ErrInUse) {
		r.Report.Leave(database.Shared, "cannot tell whether OpenClaw is running: "+err.Error())
	}
	sign := locate.Running(ctx, r.root.Name(), r.port, leases, now, getenv)
	if name := r.databases.Changing(); sign == "" && name != "" {
		sign = "changes in " + name
	}
	return sign
}

// leases reads who has a database open, and the gateway's claim on the folder.
//
// source: openclaw/openclaw src/state/openclaw-agent-db-lease.ts (agent_database_leases; the first version had no owner_start_time),
// src/state/openclaw-state-schema.sql (state_leases), src/commands/doctor-gateway-maintenance.test.ts (its payload)
func (r *Result) leases(ctx context.Context) (out []locate.Lease, err error) {
	columns := []string{"path", "owner_pid", "opened_at", "owner_start_time"}
	var rows [][]string
	for n := len(columns); n > 1 && len(rows) == 0 && err == nil; n-- { // older versions have fewer columns
		rows, err = r.databases.Rows(ctx, database.Shared, "agent_database_leases", columns[:n]...)
	}
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		row = append(row, "", "")
		out = append(out, locate.Lease{Path: row[0], PID: int(number(row[1])), Opened: milliseconds(number(row[2])), Start: number(row[3])})
	}
	rows, err = r.databases.Rows(ctx, database.Shared, "state_leases", "scope", "expires_at", "payload_json")
	for _, row := range rows {
		var payload struct {
			Owner struct {
				PID       int    `json:"pid"`
				Host      string `json:"host"`
				StartedAt int64  `json:"startedAt"`
			} `json:"owner"`
		}
		if row[0] == "gateway-owner" && json.Unmarshal([]byte(row[2]), &payload) == nil {
			o := payload.Owner
			out = append(out, locate.Lease{PID: o.PID, Host: o.Host, Start: o.StartedAt, Expires: milliseconds(cmp.Or(number(row[1]), 1))})
		}
	}
	return out, err
}

// number reads a number; 0 = there is none.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// milliseconds is the time of a stamp; zero = there is none.
func milliseconds(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// gatewayPort is the port in OpenClaw's configuration; 0 = it names none.
func gatewayPort(tree map[string]any) int {
	gateway, _ := tree["gateway"].(map[string]any)
	return int(number(fmt.Sprint(gateway["port"])))
}
