package channeltest

import (
	"flag"
	"runtime"
	"strconv"
)

// SideBySide has a package run n of its parallel tests at once for each processor, unless -parallel says how many. It is for the TestMain of a package whose tests
// wait more than they work: for other processes, for pauses of the program that are meant for people.
func SideBySide(n int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(n*runtime.GOMAXPROCS(0))) // a number, always
	}
}
