package daemon

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// stopped is the state of a stopped process (SSTOP in sys/proc.h).
const stopped = 4

// presence returns a function that reports whether the process at the other end runs in the
// foreground of its terminal.
func presence(conn *net.UnixConn) (func() bool, error) {
	pid, err := wire.PeerProcess(conn)
	if err != nil {
		return nil, err
	}
	return func() bool {
		p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		return err == nil && p.Proc.P_stat != stopped && p.Eproc.Tpgid == p.Eproc.Pgid
	}, nil
}
