package budget

import (
	"fmt"
)

// Dollars writes millionths of a dollar: to the cent, or where that says nothing, to the first two digits.
func Dollars(cost int64) string {
	switch d := float64(cost) / 1e6; {
	case cost >= 100_000 || cost == 0:
		return fmt.Sprintf("$%.2f", d)
	case cost >= 1000:
		return fmt.Sprintf("$%.3f", d)
	default:
		return fmt.Sprintf("$%.6f", d)
	}
}
