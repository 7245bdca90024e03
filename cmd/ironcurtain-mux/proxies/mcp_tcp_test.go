package proxies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token that is longer than what is read of its file would never be presented.
func TestATokenIsReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", maxTokenFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := tokenIn(path); err == nil || !strings.Contains(err.Error(), "longer than 1024 bytes") {
		t.Errorf("read %d bytes, %v", len(token), err)
	}
}
