package doctor

import (
	"time"

	ways "github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// checkSeen shows what the engine's last container reported from inside: its user, or its isolation. It
// starts no container.
func checkSeen(p wiring.Paths, e engine, isolation bool) finding {
	ways, client, missing := e.ways(p)
	if missing != nil {
		return *missing
	}
	last, ok := ways.Seen(client.Endpoint().Address, client.Info().Version)
	return describeSeen(last, ok, isolation)
}

// describeSeen describes the last report.
func describeSeen(last ways.LastSeen, known, isolation bool) finding {
	on := "seen on " + last.At.Local().Format(time.DateOnly) + ": "
	switch {
	case !known:
		return ok("not known yet: each container is looked at from inside before its agent starts")
	case !isolation:
		return ok("%s%s", on, last.User)
	case last.Differs:
		return warn("let the engine enforce its limits: see its documentation", "%s%s", on, last.Isolation)
	}
	return ok("%s%s", on, last.Isolation)
}
