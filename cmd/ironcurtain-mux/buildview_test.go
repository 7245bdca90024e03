package main

import (
	"testing"
)

// An image that cannot be made is explained in its tab: the step that failed, what
// was said last, what to do; a key shows and hides everything that was said.
func TestFailedBuildInTheTab(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"images":{"base":"registry.invalid/none:1","tools":[]}}`)
	d := drive(t, home, 100, 30, "demo", "--agent", "shell")
	d.see(patience, "✗ get the root file system (step 1 of 3)", "asking the registry for registry.invalid/none:1",
		"pull registry.invalid/none:1", "choose another images.base", "Ctrl-L shows the whole log", "/restart starts it again")
	d.send("\x0c")
	d.see(patience, "was started", "checking the agent image · after", "asking the registry for registry.invalid/none:1")
	d.send("\x0c")
	d.see(patience, "✗ get the root file system")
	d.quit()
	d.traceless()
}
