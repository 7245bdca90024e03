package daemon

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// presence returns a function that reports whether the process at the other end runs in the
// foreground of its terminal.
func presence(conn *net.UnixConn) (func() bool, error) {
	pid, err := wire.PeerProcess(conn)
	if err != nil {
		return nil, err
	}
	file := fmt.Sprintf("/proc/%d/stat", pid)
	return func() bool {
		stat, err := os.ReadFile(file)
		return err == nil && inForeground(stat)
	}, nil
}

// inForeground reads /proc/PID/stat: the process's number, its name in parentheses, then its state,
// parent, process group, session, terminal and the group in the terminal's foreground.
func inForeground(stat []byte) bool {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 6 {
		return false
	}
	group, err := strconv.Atoi(string(fields[2]))
	front, err2 := strconv.Atoi(string(fields[5]))
	stopped := fields[0][0] == 'T' || fields[0][0] == 't'
	return err == nil && err2 == nil && !stopped && (front == group || front == -1)
}
