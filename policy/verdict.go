package policy

// Action is the answer of a rule or a verdict: allow or deny.
type Action string

// The actions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
)

// Override is a session's own send policy: Allow, Deny, or empty to inherit the rules (contract P3).
type Override = Action

// Inherit is the absent override.
const Inherit Override = ""

// Verdict is a decision with its reason. Every delivery row stores the one that decided it (contract P6).
type Verdict struct {
	Action Action `json:"action"`
	Rule   string `json:"rule"`   // what decided: "session override", "session.sendPolicy.rules[2]", "session.sendPolicy.default", …
	Reason string `json:"reason"` // one sentence for people
}

// Allowed reports whether the verdict lets things through.
func (v Verdict) Allowed() bool { return v.Action == Allow }

// BlockedError is the error of a request for a delivery that the send policy does not let out (contract P4). Nothing was queued.
type BlockedError struct{ Verdict Verdict }

func (e *BlockedError) Error() string {
	return "send blocked by session policy: " + e.Verdict.Rule + " (" + e.Verdict.Reason + ")"
}
