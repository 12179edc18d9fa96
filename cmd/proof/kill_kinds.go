package main

import (
	"slices"
	"strings"
	"time"
)

// kind is one kind of transaction of the store, as Config.Trace names it: "Submit+reset" is work from no platform that starts a session
// over, "PartSent+whatsapp" the receipt of that platform for what was sent. Before and after its commit there is a fail-point each.
type kind struct {
	name string
	make errand        // what makes one come; nil = the usual messages do
	slow time.Duration // it comes only so long after the host's start; 0 = soon
}

// kinds are all that the program has. A run that has kills for all of them fails when one was never the place of a kill.
var kinds = []kind{
	{name: "Absorb", make: parts},
	{name: "Accept"},
	{name: "Accept+amend", make: editWaiting},
	{name: "Accept+drop", make: fullQueue},
	{name: "Accept+heard", make: overhearing},
	{name: "Accept+interrupt", make: interrupting},
	{name: "Accept+lift", make: liftBudget},
	{name: "Accept+listed", make: unreadable},
	{name: "Accept+moved", make: chatMoves},
	{name: "Accept+overheard", make: overhearing},
	{name: "Accept+pairing", make: pairInChat},
	{name: "Accept+patch"},
	{name: "Accept+reset", make: newInChat},
	{name: "Accept+revise", make: editAnswered},
	{name: "Accept+stop", make: stopInChat},
	{name: "Accept+title", make: renameGroup},
	{name: "Accept+unpair", make: pairInChat},
	{name: "Answer"},
	{name: "Answer+discord"},
	{name: "Answer+telegram"},
	{name: "Answer+whatsapp"},
	{name: "BeginPreview", make: writeSlowly},
	{name: "BeginSend"},
	{name: "Call"},
	{name: "Call+discord"},
	{name: "Call+telegram"},
	{name: "Call+whatsapp"},
	{name: "Claim"},
	{name: "Compact", make: compact},
	{name: "EndDelivery", make: kicked},
	{name: "EndPreview", make: stopWriting},
	{name: "Expire", make: stay, slow: expireAfter},
	{name: "Expire+archive", make: stay, slow: expireAfter},
	{name: "Finish"},
	{name: "Finish+begin"},
	{name: "Finish+delete"},
	{name: "Finish+next"},
	{name: "Fire", make: job},
	{name: "Forget", make: stay, slow: expireAfter},
	{name: "Index", make: search},
	{name: "PartSent"},
	{name: "PartSent+discord"},
	{name: "PartSent+telegram"},
	{name: "PartSent+whatsapp"},
	{name: "PutPairing", make: stranger},
	{name: "Readdress", make: newAddress},
	{name: "Record"},
	{name: "Recover"},
	{name: "Requeue", make: kicked},
	{name: "Retry", make: tooMany},
	{name: "ShowPreview", make: writeSlowly},
	{name: "Spend", make: compact},
	{name: "Submit"},
	{name: "Submit+archive", make: archiveByAPI},
	{name: "Submit+delete", make: deleteByAPI},
	{name: "Submit+dropjob", make: jobByAPI},
	{name: "Submit+job", make: jobByAPI},
	{name: "Submit+lift", make: liftByAPI},
	{name: "Submit+note", make: remember},
	{name: "Submit+overheard", make: wakeHook},
	{name: "Submit+pairing", make: pairByAPI},
	{name: "Submit+patch"},
	{name: "Submit+reset", make: resetByAPI},
	{name: "Submit+stop", make: stopByAPI},
	{name: "Submit+unpair", make: pairByAPI},
	{name: "Sweep", make: deleteByAPI},
}

// never are the kinds that the running program does not have, each with why. One that comes all the same fails the run.
var never = map[string]string{
	"Archive":        "no caller: a session is put away by Submit+archive and Expire+archive",
	"Delete":         "no caller: a session is deleted by Submit+delete and Finish+delete",
	"Finish+archive": "no caller: the session of a sub-agent is put away by Expire+archive, or deleted by Finish+delete",
	"Import":         "parley import, a process of its own while no host runs: cmd/parley TestImport",
	"Patch":          "no caller: settings are changed by Submit+patch and Accept+patch",
	"Probe":          "only while the disk fails, which it does not here: cmd/parley TestFaultHostDiskFull",
	"Reset":          "no caller: a session starts over by Submit+reset and Accept+reset",
}

// expireAfter is how long after its start a host first looks for what is old, and a little.
const expireAfter = 33 * time.Second

// phases are where a host can be killed at a transaction.
var phases = []string{"before-commit", "after-commit"}

// kindOf finds the kind of a fail-point.
func kindOf(point string) kind {
	name, _, _ := strings.Cut(point, " ")
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return kind{name: name}
}

// knownPoints are the fail-points of all kinds.
func knownPoints() (all []string) {
	for _, k := range kinds {
		for _, phase := range phases {
			all = append(all, k.name+" "+phase)
		}
	}
	return all
}
