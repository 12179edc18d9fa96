package web

import (
	"fmt"
	"net/http"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
	"parley/tools/mcp"
)

// statusView is view_status.html.
type statusView struct {
	api.HostStatus
	Now      time.Time
	Up       time.Duration
	States   []stateCount
	Warnings []warning
	Models   []api.Model
	Names    names
}

// warning is something that a person should look at.
type warning struct {
	Tone, Text, Todo, Link string
}

func (s site) status(r *http.Request) (any, error) {
	st, err := call[api.HostStatus](s, r, "status", &api.None{})
	if err != nil {
		return nil, err
	}
	v := statusView{HostStatus: st, Now: time.Now()}
	v.Up = v.Now.Sub(st.Started)
	for _, x := range deliveryStates {
		v.States = append(v.States, stateCount{x, st.Deliveries[x], withParams("/deliveries", "state", string(x))})
	}
	if v.Models, err = call[[]api.Model](s, r, "models.list", &api.None{}); err != nil {
		return nil, err
	}
	if len(v.Working) > 0 {
		v.Names = s.names(r)
	}
	v.Warnings = warnings(v)
	asking, _, err := s.strangers(r)
	if err != nil {
		return nil, err
	}
	switch n := len(asking); {
	case n == 1:
		v.Warnings = append(v.Warnings, warning{"warn", "One person waits for approval", "approve or reject the request", "/pairing"})
	case n > 1:
		v.Warnings = append(v.Warnings, warning{"warn", fmt.Sprintf("%d people wait for approval", n), "approve or reject the requests", "/pairing"})
	}
	return v, nil
}

// signOut signs every browser out; what this one asks for next is answered by the page where one signs in.
func (s site) signOut(r *http.Request) (any, error) {
	_, err := call[api.SignedOut](s, r, "page.signOut", &api.None{})
	return changeResult{}, err // frame.js leaves the page
}

// notesShown is how many tools of one MCP server that are left out the page names.
const notesShown = 5

// warnings are what does not work, what to do about it first.
func warnings(v statusView) (out []warning) {
	for _, a := range v.Accounts {
		if a.Off || a.Live || a.Linking {
			continue
		}
		w := warning{"warn", fmt.Sprintf("%s is %s", onAccount(a.Channel, a.Account), a.Words()), a.Todo, "/channels"}
		if a.CanLink && (a.State == channels.LoggedOut || a.State == channels.Revoked) { // there is a button for it
			w.Todo = "link it on the Channels page"
		}
		if a.Detail != "" {
			w.Text += ": " + a.Detail
		}
		if a.Todo != "" {
			w.Tone = "bad"
		}
		out = append(out, w)
	}
	if !v.Ready && v.Why != "" && len(out) == 0 {
		out = append(out, warning{Tone: "bad", Text: v.Why})
	}
	for _, m := range v.Models {
		if m.Trouble != "" {
			out = append(out, warning{Tone: "warn", Text: fmt.Sprintf("Model %s is not used for now: %s", m.Name, m.Trouble)})
		}
	}
	for _, m := range v.Servers {
		if m.State != mcp.Running {
			out = append(out, warning{Tone: "warn", Text: m.String()})
		}
		notes := m.Notes()
		for _, note := range notes[:min(len(notes), notesShown)] {
			out = append(out, warning{Tone: "warn", Text: note})
		}
		if n := len(notes) - notesShown; n > 0 {
			out = append(out, warning{Tone: "warn", Text: fmt.Sprintf("MCP server %s: %d more tools are left out; parley status names them", m.Name, n)})
		}
	}
	for _, lack := range v.Sandbox {
		out = append(out, warning{Tone: "warn", Text: "Sandboxed MCP servers are not fully confined: " + lack})
	}
	for _, x := range []struct {
		state sessions.DeliveryState
		words string
	}{{sessions.Held, "held: arrival not confirmed"}, {sessions.DeliveryFail, "failed"}} {
		if n := v.Deliveries[x.state]; n > 0 {
			out = append(out, warning{"warn", fmt.Sprintf("%s %s", plural(n, "message"), x.words), "send again, or drop", withParams("/deliveries", "state", string(x.state))})
		}
	}
	return out
}
