package sessions

import (
	"fmt"
)

// ShortCount writes a count as people do: 950, 1.2k, 3.4m.
func ShortCount(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fm", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
