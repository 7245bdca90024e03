package ssh

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// What ssh says last is the reason, on one line that shows as it is, and decides what to do.
func TestSSHWords(t *testing.T) {
	target := Target{user: "me", host: "box", port: "2222"}
	notFound := exec.Command("/bin/sh", "-c", "exit 127").Run()
	late := errors.New("no connection within 30s")
	for _, tt := range []struct {
		name, said string
		ended      error
		reason     string
		next       string
		kind       error
		permanent  bool
	}{
		{"nothing", "", nil, "without a message", "run 'ssh -p 2222 me@box' in a terminal to see why", ErrUnreachable, false},
		{"too late", "", late, "no connection within 30s", "in a terminal to see why", ErrUnreachable, false},
		{"a new key", "Host key verification failed.\r\n", nil, ": Host key verification failed.", "'ssh -p 2222 me@box' once", ErrUnreachable, true},
		{
			"another key", "@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@\nIT IS POSSIBLE\nHost key verification failed.\n",
			nil, "the machine's key has changed", "ssh-keygen -R", ErrUnreachable, true,
		},
		{"no key", "me@box: Permission denied (publickey).\n", nil, "(publickey)", "ssh-add", ErrUnreachable, true},
		{"a port that is taken", "bind [127.0.0.1]:8080: Address already in use\nchannel_setup_fwd_listener_tcpip: cannot listen to port: 8080\nTimeout, server box not responding.\n", nil, ": Timeout, server box not responding.", "in a terminal to see why", ErrUnreachable, false},
		{"no docker", "sh: 1: docker: not found\n", notFound, "forwards no sockets, and it has no docker command", "AllowStreamLocalForwarding", ErrUnreachable, true},
		{"no engine", "failed to open the raw stream connection: dial unix /x: connect: connection refused\n", nil, "/x", "start the engine there", ErrNotRunning, false},
		{"not allowed", "failed to open the raw stream connection: dial unix /x: connect: permission denied\n", nil, "/x", "group docker", ErrPermission, true},
		{"what a terminal would obey", "one\ntwo\n\x1b[31mred\x07\u202e\n", nil, `two; \x1b[31mred`, "in a terminal to see why", ErrUnreachable, false},
		{"too much", strings.Repeat("x", 2*lastLimit), nil, "xxx", "in a terminal to see why", ErrUnreachable, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			permanent, err := target.failure(tt.said, tt.ended)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.reason) || !strings.Contains(fault.Hint(err), tt.next) || permanent != tt.permanent {
				t.Errorf("%v (%s), %v", err, fault.Hint(err), permanent)
			}
			if len(err.Error()) > lastLimit+200 || strings.ContainsAny(err.Error(), "\n\r\x1b\x07\u202e") {
				t.Errorf("%d bytes: %q", len(err.Error()), err)
			}
		})
	}
}
