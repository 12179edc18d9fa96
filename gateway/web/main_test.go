package web_test

import (
	"os"
	"testing"

	"parley/gateway/web/webtest"
)

// TestMain keeps the browser from one test to the next.
func TestMain(m *testing.M) {
	release := webtest.Keep()
	code := m.Run()
	release()
	os.Exit(code)
}
