package sqlstore

import (
	"fmt"
	"path/filepath"
	"testing"
)

// The databases of every earlier version have the schema that a restore asks for.
func TestCheckSchemaOfFixtures(t *testing.T) {
	t.Parallel()
	for _, f := range allFixtures(t) {
		t.Run(fmt.Sprint(f.version), func(t *testing.T) {
			t.Parallel()
			if err := CheckSchema(t.Context(), filepath.Join(f.folder(t), DatabaseFile)); err != nil {
				t.Error(err)
			}
		})
	}
}
