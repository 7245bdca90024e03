package nonblock

import (
	"os"
	"path/filepath"
	"testing"
)

// A sync of which nobody can tell how it ended has not worked.
func TestSyncWithoutAnEnd(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	k := newKernelSync(f)
	if k == nil || !k.begin() {
		t.Fatal("the kernel has not begun a sync")
	}
	context := k.context
	k.context = 0
	if err := k.result(); err == nil {
		t.Error("it has ended well")
	}
	k.context = context
	k.release()
}
