package main

import (
	"cmp"
	"fmt"
)

// atLeast refuses the value of a flag that is too small.
func atLeast[T cmp.Ordered](flag string, value, least T) error {
	if value >= least {
		return nil
	}
	return fmt.Errorf("%s %v: use at least %v", flag, value, least)
}

// atMost refuses the value of a flag that is too large, and says why.
func atMost[T cmp.Ordered](flag string, value, most T, why string) error {
	if value <= most {
		return nil
	}
	return fmt.Errorf("%s %v: use at most %v, as %s", flag, value, most, why)
}

// moreThanNone refuses the value of a flag that has to be more than 0, and is none when it is no number.
func moreThanNone[T cmp.Ordered](flag string, value T) error {
	var none T
	if value > none {
		return nil
	}
	return fmt.Errorf("%s %v: use more than 0", flag, value)
}
