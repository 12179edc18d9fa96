// Command proof proves what parley promises: it runs the real program against stand-in platforms, breaks it in every way that its
// promises speak of, and has an independent checker (gateway/prooftest) judge what people saw. Each command prints its figures and
// ends with 1 when a mark is missed.
//
//	go run ./cmd/proof kill        the process is killed a thousand times
//	go run ./cmd/proof soak        hours of work, and what grows
//	go run ./cmd/proof simulate    a hundred thousand worlds on virtual time
//	go run ./cmd/proof faults      every fault test with its full count
//	go run ./cmd/proof upgrade     every schema that was released becomes the newest
//	go run ./cmd/proof peers       what hosts of chat agents can be compared by
//
// Run it in the repository: it builds the program that it proves.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Kill killCmd `cmd:"" help:"Kill the program many times while people write, agents ask each other and start sub-agents."`

	Soak     soakCmd     `cmd:"" help:"Run the program for hours and measure its memory, files and times."`
	Simulate simulateCmd `cmd:"" help:"Simulate router, lanes, chains and gate in virtual time, one world for each seed."`
	Faults   faultsCmd   `cmd:"" help:"Run every fault test with its full count. Tests that need PostgreSQL run if PARLEY_TEST_POSTGRES names a server."`
	Upgrade  upgradeCmd  `cmd:"" help:"Upgrade a database of each released schema, with and without kills. Without a PostgreSQL server in PARLEY_TEST_POSTGRES the command skips that part and exits with 1."`
	Peers    peersCmd    `cmd:"" help:"Measure parley or another host of chat agents, for comparison."`
}

// faultsCmd runs the fault tests (docs/faults.md) with the counts that they have when nobody waits.
type faultsCmd struct {
	Limit time.Duration `default:"3h" help:"Time limit of the tests of one package. Some packages run in parallel."`
	JSON  bool          `name:"json" help:"Print the results as JSON."`
}

// The tests of docs/faults.md, by their names. Some prove more than that a fault is borne, and are called by what they prove.
const (
	faultTests = `^Test(Fault|Budget|Canary|EveryChildIsAccountedFor$|Job(AfterADay|And)|LimitedWaitsAndDelaysNobodyElse$|Meter$|Owner$|RedactKnowsEverySecret$` +
		`|SecondProcess$|Send(Around|Results|TooLate)|Stop$|TraceIsComplete$|TurnsByAgents$)`
	upgradeTests = "^TestUpgrade"
)

// faultTestsAt are the fault tests that can be run: some of them need a PostgreSQL server, and would only be skipped without.
func faultTestsAt(postgres string) string {
	if postgres == "" {
		return faultTests
	}
	return faultTests + "|^Test(CommitCut|CommitUncertain|DuplicateWaits|Fenced|Owner|ReadOnly|Unfit)Postgres$"
}

// Validate says what cannot be asked for.
func (c faultsCmd) Validate() error { return moreThanNone("--limit", c.Limit) }

func (c faultsCmd) Run(ctx context.Context) error {
	return suite{pattern: faultTestsAt(os.Getenv("PARLEY_TEST_POSTGRES")), packages: []string{"./..."}, limit: c.Limit, env: []string{"PARLEY_TEST_FULL=1"}}.run(ctx, c.JSON)
}

// upgradeCmd runs the tests of upgrades with their full counts.
type upgradeCmd struct {
	Limit time.Duration `default:"1h" help:"Time limit of the tests of one package. Some packages run in parallel."`
	JSON  bool          `name:"json" help:"Print the results as JSON."`
}

// Validate says what cannot be asked for.
func (c upgradeCmd) Validate() error { return moreThanNone("--limit", c.Limit) }

func (c upgradeCmd) Run(ctx context.Context) error {
	return suite{pattern: upgradeTests, packages: []string{"./sessions/sqlstore", "./router", "./cmd/parley"}, limit: c.Limit, env: []string{"PARLEY_TEST_FULL=1"}}.run(ctx, c.JSON)
}

// about is what the program says of itself.
const about = `Proves what parley promises. On two cores kill takes half an hour, simulate an hour, faults half an hour, upgrade a quarter, soak 4 hours; kill, simulate and soak have flags that make them shorter.

Exit codes: 0 all limits are met, 1 a limit is missed or was not tried, 80 the command line is invalid, 130 interrupted.`

// inHelp are the figures that the words of the flags name.
func inHelp() kong.Vars {
	return kong.Vars{"judged": strconv.Itoa(judgedFrom()), "patience": namedPatience.String(), "mostSpawns": strconv.Itoa(mostSpawns)}
}

func main() { os.Exit(prove()) }

// prove does what a command line says and gives the code to end with.
func prove() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	var c cli
	k := kong.Parse(&c, inHelp(), kong.Name("proof"), kong.Description(about), kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.BindTo(ctx, (*context.Context)(nil)))
	context.AfterFunc(ctx, func() { // who cannot wait for the children's end interrupts once more; timeout(1) does so twice at once, and means it once
		<-time.After(time.Second)
		stop()
	})
	defer stop()
	over, err := ownTemp()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		return 1
	}
	defer over()
	if err = k.Run(); err == nil {
		return 0
	}
	if ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "proof: interrupted:", err)
	return exitInterrupted
}

// exitInterrupted is what a program ends with that was interrupted by a person.
const exitInterrupted = 130
