package gateway

import (
	"encoding/json"
	"net/http"
	"time"

	"parley/channels"
	"parley/sessions"
)

func (h *Host) pairings(r *http.Request) ([]sessions.Pairing, error) {
	list, err := h.store.Pairings(r.Context(), time.Now())
	for i := range list {
		list[i].Hash, list[i].Delivery = "", nil
	}
	if list == nil {
		list = []sessions.Pairing{}
	}
	return list, err
}

// pairingCode is the body of approve and reject.
type pairingCode struct {
	Channel channels.Kind `json:"channel"`
	Code    string        `json:"code"`
}

func readCode(r *http.Request) (pairingCode, error) {
	var body pairingCode
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 4<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || body.Channel == "" || body.Code == "" {
		return body, bad(`want {"channel": "…", "code": "…"}`)
	}
	return body, nil
}

func (h *Host) approve(r *http.Request) (sessions.Pairing, error) {
	c, err := readCode(r)
	if err != nil {
		return sessions.Pairing{}, err
	}
	p, err := h.router.LetIn(r.Context(), c.Channel, c.Code)
	p.Hash = ""
	return p, err
}

func (h *Host) reject(r *http.Request) (struct{}, error) {
	c, err := readCode(r)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, h.router.TurnDown(r.Context(), c.Channel, c.Code)
}

// admitted is GET /api/pairing/admitted: who was let in by a code.
func (h *Host) admitted(r *http.Request) ([]sessions.Admitted, error) {
	list, err := h.store.Admitted(r.Context())
	if list == nil {
		list = []sessions.Admitted{}
	}
	return list, err
}

// PairedPerson is the body of POST /api/pairing/remove. Without an account it is the only one on which this was done.
type PairedPerson struct {
	Channel channels.Kind      `json:"channel"`
	Account channels.AccountID `json:"account,omitempty"`
	User    string             `json:"user"` // as in the configuration, or as the list shows it
}

func (h *Host) unpair(r *http.Request) (sessions.Admitted, error) {
	var body PairedPerson
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 4<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || body.Channel == "" || body.User == "" {
		return sessions.Admitted{}, bad(`want {"channel": "…", "user": "…"}`)
	}
	user, err := Table(h.deps.Adapters).Person(body.Channel, body.User)
	if err != nil {
		user = channels.UserID(body.User)
	}
	return h.router.Unpair(r.Context(), body.Channel, body.Account, user)
}
