package session

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// Line is the connection to a container; reach.Stream implements it.
type Line interface {
	// RTT returns the present round-trip time; 0: not known.
	RTT() time.Duration
}

// far is what a tab shows all the time if its engine is on another machine or its files are copied.
// The session's mutex guards it.
type far struct {
	host   string        // of the engine; empty: this machine
	copied bool          // the agent works on copies of the files
	line   Line          // nil: there is none
	shown  time.Duration // the round-trip time that the tab shows
	looked time.Time     // when the round-trip time was last read
}

// The round-trip time is read at most once per farEvery. The tab shows the new one if it differs from
// the shown one by at least 1/farPart.
const (
	farEvery = 5 * time.Second
	farPart  = 5
)

// SetFar sets the host on which the session's container runs, empty for this machine, and whether its
// files are copied. The tab shows both from now on.
func (s *Session) SetFar(host string, copied bool, line Line) {
	s.mu.Lock()
	s.far = far{host: host, copied: copied, line: line}
	s.mu.Unlock()
	s.CheckFar(time.Now())
	s.Announce()
}

// CheckFar reads the round-trip time to an engine on another machine, unless it was read within
// farEvery, and announces a changed one.
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

// rttDiffers reports whether a round-trip time differs enough from the shown one to be shown.
func rttDiffers(shown, now time.Duration) bool {
	if shown == 0 || now == 0 {
		return shown != now
	}
	return (now-shown).Abs() >= shown/farPart && rttText(shown) != rttText(now)
}

// farLine returns what a tab shows of an engine on another host and of copied files; empty: nothing.
// It leaves out the round-trip time to an engine on this machine.
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

// rttText formats a round-trip time for people.
func rttText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "1 ms"
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// engineHost returns the host in an engine's address; empty: the address is on this machine.
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

// describeFar sets Far in the description of a session that has not ended. mu is held.
func (s *Session) describeFar(out *stored.Session) {
	if out.State != stored.StateDead && out.State != stored.StateClosed {
		out.Far = farLine(s.far.host, s.far.copied, s.far.shown)
	}
}
