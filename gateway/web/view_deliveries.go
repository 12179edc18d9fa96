package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

const deliveriesShown = 50

// deliveryStates are the states as the filter has them: those that want a look first.
var deliveryStates = []sessions.DeliveryState{sessions.Pending, sessions.Sending, sessions.Held, sessions.DeliveryFail, sessions.Withheld, sessions.Expired, sessions.DeliveryStopped, sessions.Dropped, sessions.Sent}

// deliveriesView is view_deliveries.html.
type deliveriesView struct {
	Refused        string // why the filter fits nothing
	List           []sessions.Delivery
	Names          names
	State, Session string // the filter
	Run            string
	States         []stateCount
	Any            string // without a state
	Self           string // where the rows come from
	Query          string // the same with its page, behind a path
	Older          string // the next page; empty = there is none
	Newest         bool   // it is the first page, which follows what happens
}

// stateCount is one state of the filter.
type stateCount struct {
	State sessions.DeliveryState
	Count int
	Link  string
}

// Filtered reports whether something is left out on request.
func (v deliveriesView) Filtered() bool { return v.State != "" || v.Session != "" || v.Run != "" }

func (s site) deliveries(r *http.Request) (any, error) {
	q := r.URL.Query()
	v := deliveriesView{State: q.Get("state"), Session: q.Get("session"), Run: q.Get("run")}
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // anything else is the first page
	session, err := s.pick(r, v.Session)
	if f, ok := refusedBy(err, "session"); ok {
		v.Refused, v.Any, v.Self = f.Text, "/deliveries", withParams("/deliveries", "state", v.State, "session", v.Session, "run", v.Run)
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.List, err = call[[]sessions.Delivery](s, r, "deliveries.list", &api.DeliveriesQuery{State: sessions.DeliveryState(v.State), Session: session, Run: sessions.RunID(v.Run), Before: before, Limit: deliveriesShown})
	if err != nil {
		return nil, err
	}
	counts, err := call[map[sessions.DeliveryState]int](s, r, "deliveries.count", &api.DeliveryCountQuery{Session: session, Run: sessions.RunID(v.Run)})
	if err != nil {
		return nil, err
	}
	for _, st := range deliveryStates {
		v.States = append(v.States, stateCount{st, counts[st], withParams("/deliveries", "state", string(st), "session", v.Session, "run", v.Run)})
	}
	if len(v.List) > 0 {
		v.Names = s.names(r)
	}
	v.Newest = before <= 0
	v.Any = withParams("/deliveries", "session", v.Session, "run", v.Run)
	if r.URL.RawQuery != "" {
		v.Query = "?" + q.Encode()
	}
	v.Self = withParams("/deliveries", "state", v.State, "session", v.Session, "run", v.Run)
	if n := len(v.List); n == deliveriesShown {
		v.Older = withParams("/deliveries", "state", v.State, "session", v.Session, "run", v.Run, "before", strconv.FormatInt(v.List[n-1].Seq, 10))
	}
	return v, nil
}

// deliveryView is view_delivery.html.
type deliveryView struct {
	sessions.Delivery
	Now     api.Explanation // as the rules stand
	Unknown string          // why that is not known
	Names   names
}

func (s site) delivery(r *http.Request) (any, error) {
	d, err := call[sessions.Delivery](s, r, "deliveries.show", &api.DeliveryCall{ID: sessions.DeliveryID(r.PathValue("delivery"))})
	if err != nil {
		return nil, err
	}
	v := deliveryView{Delivery: d, Names: s.names(r)}
	v.Now, err = call[api.Explanation](s, r, "policy.explain", &api.ExplainQuery{Session: string(d.Session), To: d.To.String()})
	if err != nil {
		v.Unknown = err.Error() // the session is deleted, for example
	}
	return v, nil
}

func (s site) retryDelivery(r *http.Request) (any, error) {
	return s.changeDelivery(r, "deliveries.retry", "Message queued for sending.")
}

func (s site) dropDelivery(r *http.Request) (any, error) {
	return s.changeDelivery(r, "deliveries.drop", "Message dropped.")
}

// changeDelivery does it and shows the part again that was asked from: the list, or the page.
func (s site) changeDelivery(r *http.Request, operation, say string) (any, error) {
	if _, err := call[sessions.Delivery](s, r, operation, &api.DeliveryCall{ID: sessions.DeliveryID(r.PathValue("delivery"))}); err != nil {
		return nil, err
	}
	load := s.delivery
	if strings.HasPrefix(r.URL.Path, "/deliveries/list/") {
		load = s.deliveries
	}
	v, err := load(r)
	if err != nil {
		return nil, err
	}
	return changeResult{Say: say, Data: v}, nil
}

// canRetry and canDrop say what a person can do about a delivery.
func canRetry(d sessions.Delivery) bool {
	switch d.State {
	case sessions.DeliveryFail, sessions.Expired, sessions.Held, sessions.Dropped:
		return d.Kind != sessions.Invite // its code is not kept
	case sessions.Pending:
		return d.NotBefore.After(time.Now())
	default:
		return false
	}
}

func canDrop(d sessions.Delivery) bool {
	switch d.State {
	case sessions.Pending, sessions.Held, sessions.DeliveryFail, sessions.Expired:
		return true
	default:
		return false
	}
}

// because is what decided about a delivery, or what is wrong with it.
func because(d sessions.Delivery) string {
	switch {
	case d.Error != "":
		return d.Error
	case d.Verdict != nil && !d.Verdict.Allowed():
		return d.Verdict.Reason
	}
	return ""
}
