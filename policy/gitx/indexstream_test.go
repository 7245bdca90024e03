package gitx

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"testing"
)

// hugeIndex writes an index of entries without names, as a sparse file.
func hugeIndex(t *testing.T, file string, size int64) {
	t.Helper()
	const entry = 72
	head := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32((size-64)/entry))
	write(t, file, string(head))
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

// Reading an index takes little memory, however large the index is.
func TestHugeIndex(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	hugeIndex(t, dir+"/r/.git/index", 255<<20)
	r, err := Open(dir+"/r", Home{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = r.gitlinks()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were allocated on the way", took)
	}
	hugeIndex(t, dir+"/r/.git/index", maxIndex+1)
	if _, err := r.gitlinks(); !errors.Is(err, errTooLarge) {
		t.Errorf("too large to be genuine: %v", err)
	}
}

// The indexes of all repositories of one call are bounded together.
func TestManyIndexes(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	hugeIndex(t, dir+"/r/.git/index", 1<<20)
	r, err := Open(dir+"/r", Home{})
	if err != nil {
		t.Fatal(err)
	}
	r.view.indexes = maxIndexes - 1<<20
	if _, err := r.gitlinks(); err != nil {
		t.Error(err)
	}
	if _, err := r.gitlinks(); !errors.Is(err, errTooLarge) {
		t.Errorf("beyond what one call may have looked through: %v", err)
	}
}

func TestAWalkThroughAnIndexEnds(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	hugeIndex(t, dir+"/r/.git/index", 100<<20)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := NewSurroundings(Home{}, "").View(ctx).Open(dir + "/r")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	_, err = r.walkIndex(func([]byte) {
		if seen++; seen == 5000 {
			cancel()
		}
	})
	if !errors.Is(err, errEnded) || seen > 10_000 {
		t.Errorf("after %d names: %v", seen, err)
	}
}
