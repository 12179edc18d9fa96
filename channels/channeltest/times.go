package channeltest

import "os"

// Times is how often a fault test repeats itself: all, when PARLEY_TEST_FULL is 1 in the environment, else few.
func Times(few, all int) int {
	if os.Getenv("PARLEY_TEST_FULL") == "1" {
		return all
	}
	return few
}
