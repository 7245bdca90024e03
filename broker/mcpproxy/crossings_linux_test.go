package mcpproxy

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// A call on a stage crosses, too: git has the workspace on it.
func TestACallOnAStageCrosses(t *testing.T) {
	w := &copied{}
	staged := gitOnStages(t)
	r := newHarness(t, func(c *Config) {
		staged(c)
		c.Workspace = w
		c.Preview = &preview.Previewer{UserHome: filepath.Dir(c.Servers[0].Staging.Open[0]), Command: gitCommand}
	})
	file := put(t, filepath.Join(r.outside, "d", "f"), "text")
	if asked, failed := r.answered(r.agent(), 1, "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"other"}`, file)); !asked || failed != "" {
		t.Fatal(asked, failed)
	}
	w.crossed(t, 2, 1)
}
