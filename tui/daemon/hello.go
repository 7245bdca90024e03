package daemon

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// welcome receives a client's hello and answers it: with a welcome, or with the reason for which
// refuse does not serve the client. refuse may change the hello.
func (d *Daemon) welcome(c *wire.Conn, refuse func(*wire.Hello) wire.Refused) (h wire.Hello, who wire.Client, err error) {
	c.SetReceiveLimit(helloLimit)
	f, err := c.Receive()
	defer func() { f.Close() }() // even with an error, the frame may have files
	c.SetReceiveLimit(0)
	if err == nil && (f.Kind != wire.KindHello || len(f.Files) > 0) {
		err = errors.New("the first frame is not a hello")
	}
	if err == nil {
		err = f.IntoKnown(&h)
	}
	refused := wire.Refused{Reason: "this program is not a client of ironcurtain-mux"}
	if err == nil {
		if refused = refuse(&h); refused.Reason == "" {
			who = wire.Client{Client: identity.New(h.Name, h.Terminal), Version: h.Version, Rights: h.Rights, Since: time.Now()}
			w := wire.Welcome{
				Protocol: h.Protocol, Version: d.Version, Client: who.ID, PID: os.Getpid(), Program: d.Program, Build: d.Build,
			}
			if d.Engine != nil {
				w.Engine = d.Engine()
			}
			return h, who, c.Send(wire.KindWelcome, w)
		}
		err = errors.New(refused.Reason)
	}
	return h, who, errors.Join(err, c.Send(wire.KindRefused, refused))
}

// program returns a comma and the path of the daemon's program, to end a sentence with; empty: the
// path is not known.
func (d *Daemon) program() string {
	if d.Upgrade == nil {
		return ""
	}
	return ", " + d.Upgrade.Program
}

// refuse returns why a client is not served; without a reason, it is served.
func (d *Daemon) refuse(h *wire.Hello) wire.Refused {
	switch oldest := slices.Min(wire.Protocols); {
	case h.Protocol < oldest:
		return wire.Refused{
			Reason: fmt.Sprintf("the program (%s) is older than the daemon (%s)", h.Version, d.Version),
			Next:   "use the program of the daemon" + d.program(),
		}
	case !slices.Contains(wire.Protocols, h.Protocol):
		return wire.Refused{
			Reason: fmt.Sprintf("the daemon (%s) is older than the program (%s)", d.Version, h.Version),
			Next:   "detach everywhere, run 'ironcurtain-mux stop' when its agents are done, and start it again",
		}
	case !slices.Contains([]wire.Right{wire.See, wire.Answer, wire.Operate}, h.Rights):
		return wire.Refused{Reason: fmt.Sprintf("the daemon does not know the right %q", h.Rights)}
	case h.Kind == wire.ForCalls:
		return wire.Refused{}
	case h.Kind != wire.ForView:
		return wire.Refused{Reason: fmt.Sprintf("the daemon does not know the kind of client %q", h.Kind)}
	case d.Show == nil:
		return wire.Refused{Reason: "this process shows no views"}
	}
	return wire.Refused{}
}

// tooMany refuses a client that may stay for long, because all connections are taken.
func tooMany() wire.Refused {
	return wire.Refused{
		Reason: fmt.Sprintf("%d clients are connected, and no more are allowed", maxConns),
		Next:   "'ironcurtain-mux clients ls' lists those with a view",
	}
}
