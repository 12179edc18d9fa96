package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"parley/channels"
)

// codeAlphabet has 32 characters, five bits each, without 0, O, 1 and I, which people mix up.
const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// CodeLen is the length of a pairing code.
const CodeLen = 8

// NewCode makes a pairing code from random bytes (crypto/rand.Reader outside of tests).
func NewCode(rand io.Reader) (string, error) {
	var b [CodeLen]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("pairing code: reading random bytes: %w", err)
	}
	for i := range b {
		b[i] = codeAlphabet[b[i]%byte(len(codeAlphabet))] // 256 is a multiple of 32: every character is as likely
	}
	return string(b[:]), nil
}

// IsCode reports whether a word is written as NewCode writes codes.
func IsCode(word string) bool {
	return len(word) == CodeLen && strings.Trim(word, codeAlphabet) == ""
}

// HashCode returns the hash under which a pairing code is stored. It belongs to one channel kind. Case, and spaces around the code, do not matter.
func HashCode(kind channels.Kind, code string) string {
	h := sha256.Sum256([]byte("parley pairing code 1\x00" + string(kind) + "\x00" + strings.ToUpper(strings.TrimSpace(code))))
	return hex.EncodeToString(h[:])
}
