package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// checkQuotas shows how much disk and memory one session can use, and which sessions have
// used up the quota of their audit.
func checkQuotas(p wiring.Paths) finding {
	text := fmt.Sprintf("each session has %d MiB of memory for its calls, %d MiB on the disk for those that wait, %d MiB for its audit, %d MiB for the log of automatic approvals",
		mcpproxy.DefaultRoom>>20, approval.DefaultBytes>>20, audit.Quota>>20, autoapprove.Quota>>20)
	logs, err := filepath.Glob(filepath.Join(p.Home, "sessions", "*", "audit.jsonl"))
	if err != nil {
		return warn("", "%s; %v", text, err)
	}
	var full []string
	for _, log := range logs {
		if info, err := os.Stat(log); err == nil && audit.Exhausted(info.Size()) { // a log may have been removed meanwhile
			full = append(full, filepath.Base(filepath.Dir(log)))
		}
	}
	if len(full) > 0 {
		return warn("continue in a new session; 'ironcurtain-mux sessions rm' removes a session with its audit",
			"%s; these sessions have used up their audit, so all their calls are refused: %s", text, strings.Join(full, ", "))
	}
	return ok("%s", text)
}
