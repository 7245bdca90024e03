package daemon

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// typedInShell reports whether the command line of the process at the other end was typed in a
// shell at a terminal. An interactive shell makes a command a job of its own, in the terminal's
// foreground; a program that a script or a build starts is part of the script's job.
func typedInShell(conn *net.UnixConn, terminal *os.File) (typed, byKernel bool) {
	pid, err := wire.PeerProcess(conn)
	if err != nil {
		return false, true
	}
	client, err := jobOf(pid)
	if err != nil {
		return false, true
	}
	parent, err := jobOf(client.parent)
	var stat unix.Stat_t
	if err != nil || unix.Fstat(int(terminal.Fd()), &stat) != nil {
		return false, true
	}
	here := client.terminal == int(unix.Minor(stat.Rdev)&0xff|unix.Major(stat.Rdev)<<8|unix.Minor(stat.Rdev)&^0xff<<12)
	return here && pid == client.group && pid == client.front && pid != client.session && client.session == parent.session, true
}

// job says how a process belongs to its terminal.
type job struct{ parent, group, session, terminal, front int }

// jobOf reads the job of a process from /proc/PID/stat; see inForeground.
func jobOf(pid int) (j job, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return j, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 6 {
		return j, fmt.Errorf("read process %d: its stat file is too short", pid)
	}
	for i, to := range []*int{&j.parent, &j.group, &j.session, &j.terminal, &j.front} {
		if *to, err = strconv.Atoi(string(fields[1+i])); err != nil {
			return j, err
		}
	}
	return j, nil
}
