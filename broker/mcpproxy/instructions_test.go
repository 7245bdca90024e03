package mcpproxy

import (
	"fmt"
	"strings"
	"testing"
)

// An agent is told what this session has, in a bounded number of words.
func TestInstructions(t *testing.T) {
	r := newHarness(t, func(c *Config) {
		c.Particulars = func() []string { return []string{"Git reaches github.com.", "Each call has 5 minutes."} }
	})
	got := r.proxy.instructions()
	for _, want := range []string{"Git reaches github.com.", "Tools of filesystem: ", "read_text_file", "write_file", ruleFutile} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "not_annotated") {
		t.Error("a tool is named that is not offered")
	}
}

// Names and facts without end do not make the instructions longer than they may be.
func TestInstructionsAreBounded(t *testing.T) {
	r := newHarness(t, func(c *Config) {
		c.Particulars = func() []string { return slicesOf("a fact of this session ", 1000) }
	})
	c := newCatalog(nil)
	for i := range 2000 {
		name := fmt.Sprintf("tool_with_a_long_name_%d", i)
		c.offered = append(c.offered, offeredTool{Name: name})
		c.byName[name] = target{fmt.Sprintf("server%d", i%50), name}
	}
	r.proxy.catalog.Store(c)
	if got := r.proxy.instructions(); len(got) > maxInstructions || !strings.Contains(got, "more tools are in the list") {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-100):])
	}
}

func slicesOf(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(text, i)
	}
	return all
}
