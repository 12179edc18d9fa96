package api

import "parley/policy"

// SendRules is the send policy as it is in force. The order of the rules does not decide: any deny that matches wins over any allow.
type SendRules struct {
	Default policy.Action `json:"default"` // where no rule matches
	Set     bool          `json:"set"`     // the default is in the configuration; otherwise it is allow
	Rules   []SendRule    `json:"rules"`
}

// SendRule is one of them.
type SendRule struct {
	Rule    string           `json:"rule"` // its name, as verdicts and explanations have it
	Action  policy.Action    `json:"action"`
	Match   policy.SendMatch `json:"match"`
	Applies string           `json:"applies"` // Match in words
}
