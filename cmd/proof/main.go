// Command proof proves what parley promises: it runs the real program against stand-in platforms, breaks it in every way that its
// promises speak of, and has an independent checker (gateway/prooftest) judge what people saw. Each command prints its figures and
// ends with 1 when a mark is missed.
//
//	go run ./cmd/proof kill    the process is killed a thousand times
//
// Run it in the repository: it builds the program that it proves.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Kill killCmd `cmd:"" help:"Kill the program again and again while people write, agents ask each other and sub-agents are spawned."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	var c cli
	k := kong.Parse(&c, kong.Name("proof"), kong.Description("Proves what parley promises."), kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.BindTo(ctx, (*context.Context)(nil)))
	err := k.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		if errors.Is(err, context.Canceled) {
			os.Exit(exitInterrupted)
		}
		os.Exit(1)
	}
}

// exitInterrupted is what a program ends with that was interrupted by a person.
const exitInterrupted = 130
