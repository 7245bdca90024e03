package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// The daemon is killed while a young package waits. npm asks again by itself, the next daemon asks
// the person again, and the package comes in after the approval.
func TestPackageWaitsThroughAKill(t *testing.T) {
	t.Parallel()
	home, work, npm := registryHome(t)
	npm.Add("fresh", forged.NPMVersion{Version: "1.1.0", Published: time.Now().Add(-1000 * time.Hour)})
	npm.Add("fresh", forged.NPMVersion{Version: "1.2.0", Published: time.Now().Add(-5 * time.Hour)})
	pinned(t, filepath.Join(work, "pinned"), npm, map[string]string{"fresh": "1.2.0"})
	d := drive(t, home, 120, 40, "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	id := d.onlySession().ID
	d.send("cd pinned && npm ci --no-audit --no-fund; echo pinned-$?\r")
	asked := d.waiting(func(broker.Escalation) bool { return true })
	d.murder(t, id)
	again := d.waiting(func(broker.Escalation) bool { return true })
	if again.Digest != asked.Digest {
		t.Errorf("asked\n%+v\nagain\n%+v", asked, again)
	}
	if out, errs, code := d.command("approve", again.ID); code != 0 {
		t.Fatalf("approve: %d, %s%s", code, out, errs)
	}
	d.see(patience, "added 1 package", "pinned-0")
	d.quit()
	if !strings.Contains(d.audit(id), `"decision":"escalated-approved"`) {
		t.Error("the audit lacks the approval")
	}
}
