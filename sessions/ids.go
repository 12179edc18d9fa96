package sessions

import (
	"github.com/google/uuid"
)

// IDFor names what a tool call makes, so that the same call, made again after a crash, names the same.
func IDFor(source, what string) string {
	if source == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(what+" of "+source)).String()
}
