package session

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// Line is what carries everything to and from a container; a reach.Stream is one.
type Line interface {
	// RTT is how long it takes there and back at present; 0: that is not known.
	RTT() time.Duration
}

// far is what a tab says all the time whose files or whose engine are elsewhere. The session's mutex
// guards it.
type far struct {
	host   string // of the engine; empty: it is this machine
	copied bool   // the agent's files are another copy than this machine's
	line   Line   // nil: there is none
	shown  time.Duration
	looked time.Time // when the line was last asked
}

// A round trip is asked for at most once in farEvery, and is news when it differs from the shown one
// by a part of it.
const (
	farEvery = 5 * time.Second
	farPart  = 5 // a fifth
)

// SetFar says where the session's container runs and whether its files are copied there. From now on
// its tab says so, if the host is another machine or files are copied.
func (s *Session) SetFar(host string, copied bool, line Line) {
	s.mu.Lock()
	s.far = far{host: host, copied: copied, line: line}
	s.mu.Unlock()
	s.CheckFar(time.Now())
	s.Announce()
}

// CheckFar asks how long it takes to the container and back, if it was not asked a moment ago, and
// announces what is news.
func (s *Session) CheckFar(now time.Time) {
	s.mu.Lock()
	f := &s.far
	if f.host == "" || f.line == nil || now.Sub(f.looked) < farEvery {
		s.mu.Unlock()
		return
	}
	f.looked = now
	rtt := f.line.RTT()
	news := rttDiffers(f.shown, rtt)
	if news {
		f.shown = rtt
	}
	s.mu.Unlock()
	if news {
		s.Announce()
	}
}

// rttDiffers reports whether a round trip differs so much from the shown one that it is shown.
func rttDiffers(shown, now time.Duration) bool {
	if shown == 0 || now == 0 {
		return shown != now
	}
	return (now-shown).Abs() >= shown/farPart && rttText(shown) != rttText(now)
}

// farLine is what a tab says of an engine on another host, and of copied files; empty: nothing. The
// round trip to this machine's own engine is of no interest.
func farLine(host string, copied bool, rtt time.Duration) string {
	var parts []string
	if host != "" {
		parts = append(parts, host)
	}
	if copied {
		parts = append(parts, "files copied")
	}
	if host != "" && rtt > 0 {
		parts = append(parts, rttText(rtt))
	}
	return strings.Join(parts, " · ")
}

// rttText is a round trip as people read it.
func rttText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "1 ms"
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// engineHost is the machine on which an engine at an address runs; empty: this one, as far as the
// address tells.
func engineHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "unix" {
		return ""
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	return host
}

// describeFar adds to a description what the tab says of where its container is. mu is held.
func (s *Session) describeFar(out *stored.Session) {
	if out.State != stored.StateDead && out.State != stored.StateClosed {
		out.Far = farLine(s.far.host, s.far.copied, s.far.shown)
	}
}
