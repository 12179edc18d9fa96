package sqlstore

import "testing"

// What is known of the end of a file is known for some drains only: a host that goes on with many long sessions does not keep all of it.
func TestMirrorForgetsEnds(t *testing.T) {
	t.Parallel()
	const people = 12
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	talk := func(rounds, first int) {
		for i := range rounds {
			for n := range people {
				if err := life(t.Context(), s, n, first+i, "question", "answer"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// have is what the files know of their ends. Nobody writes meanwhile.
	have := func() (n int) {
		s.SyncMirror()
		s.mirror.mu.Lock()
		defer s.mirror.mu.Unlock()
		for _, f := range s.mirror.files {
			n += len(f.have)
		}
		return n
	}
	talk(3, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	talk(1, 3)
	began := have()
	for i := range 4 { // one person only, so that the other files are not written
		if err := life(t.Context(), s, 0, 4+i, "question", "answer"); err != nil {
			t.Fatal(err)
		}
		have()
	}
	if n := have(); n != 0 || len(s.mirror.fresh) != 0 || len(s.mirror.files) != people {
		t.Errorf("%d deliveries of %d files are known, %d files are fresh; %d after the start", n, len(s.mirror.files), len(s.mirror.fresh), began)
	}
}
