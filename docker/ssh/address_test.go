package ssh

import (
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// An address means what the docker command takes it for.
func TestSSHAddress(t *testing.T) {
	for address, want := range map[string]Target{
		"ssh://box":                      {host: "box"},
		"ssh://box/":                     {host: "box"},
		"ssh://me@box:2222":              {user: "me", host: "box", port: "2222"},
		"ssh://me@box/run/user/1000/d.s": {user: "me", host: "box", socket: "/run/user/1000/d.s"},
		"ssh://[::1]:22":                 {host: "::1", port: "22"},
		`ssh://house%5Cme@box`:           {user: `house\me`, host: "box"},
	} {
		t.Run(address, func(t *testing.T) {
			got, err := Parse(address)
			if err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
			args := got.dialArgs(false)
			end := slices.Index(args, "--")
			if end < 0 || args[end+1] != want.host || args[end+2] != "docker" {
				t.Errorf("ssh %q", args)
			}
		})
	}
}

// What ssh or a shell could take for something else than a name never gets to it.
func TestSSHAddressesThatAreRefused(t *testing.T) {
	for address, why := range map[string]string{
		"ssh://":                         "names no host",
		"ssh://me@":                      "names no host",
		"ssh://-oProxyCommand=touch%20x": "",
		"ssh://-oProxyCommand=x/":        "is not the name of a machine",
		"ssh://-oProxyCommand=x@box":     "is not the name of a user",
		"ssh://me@-F":                    "is not the name of a machine",
		"ssh://a$(id)":                   "",
		"ssh://a;id":                     "is not the name of a machine",
		"ssh://a%60id%60":                "",
		"ssh://$(id)@box":                "is not the name of a user",
		"ssh://me%0A@box":                "is not the name of a user",
		"ssh://me%20-x@box":              "is not the name of a user",
		"ssh://me%C2%9B31m@box":          "is not the name of a user", // what a terminal obeys
		"ssh://me%E2%80%AE@box":          "is not the name of a user",
		"ssh://me:secret@box":            "contains a password",
		"ssh://me:@box":                  "contains a password",
		"ssh://box?x=1":                  "more than a host and a path",
		"ssh://box#x":                    "more than a host and a path",
		"ssh://box:0":                    "is not a port",
		"ssh://box:65536":                "is not a port",
		"ssh://box:x":                    "not an address",
		"ssh://box/a:/b":                 "the socket's path",
		"ssh://box/$(id)":                "the socket's path",
		"ssh://box/a%20b":                "the socket's path",
		"ssh://box/%25h":                 "the socket's path",
		"ssh://box/" + strings.Repeat("x", maxSocketPath): "bytes long",
		"ssh:box":   "names no host",
		"tcp://box": "does not begin with ssh://",
	} {
		t.Run(address, func(t *testing.T) {
			_, err := Parse(address)
			if err == nil || !strings.Contains(err.Error(), why) || fault.Hint(err) == "" || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v (%s)", err, fault.Hint(err))
			}
		})
	}
}

// The person's configuration cannot make ssh give this machine away, or share a connection.
func TestSSHGivesNothingAway(t *testing.T) {
	target := Target{user: "me", host: "box", port: "2222"}
	for name, args := range map[string][]string{
		"forwarding": target.forwardArgs("/tmp/x/s", false),
		"single":     target.dialArgs(false),
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range []string{
				"-a", "-x", "-k", "ControlMaster=no", "ControlPath=none", "PermitLocalCommand=no", "BatchMode=yes",
				"ServerAliveInterval=5", "ServerAliveCountMax=3",
			} {
				if i := slices.Index(args, want); i < 0 || i > slices.Index(args, "--") {
					t.Errorf("%s is not among %q", want, args)
				}
			}
		})
	}
	if args := target.forwardArgs("/tmp/x/s", false); !slices.Contains(args, "/tmp/x/s:/var/run/docker.sock") || !slices.Contains(args, "StreamLocalBindMask=0177") {
		t.Errorf("it forwards otherwise: %q", args)
	}
	if args := target.dialArgs(true); slices.Contains(args, "BatchMode=yes") {
		t.Error("it may not ask")
	}
}

// An ssh that does not know an option fails.
func TestOptionsOfNewerSSH(t *testing.T) {
	for said, want := range map[string]bool{
		"OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\n": true,
		"OpenSSH_10.0p2, LibreSSL 3.3.6":                                true,
		"OpenSSH_8.7p1, OpenSSL 3.0.7":                                  true,
		"OpenSSH_8.6p1, OpenSSL 1.1.1k":                                 false,
		"OpenSSH_for_Windows_9.5p1, LibreSSL 3.8.2":                     true,
		"OpenSSH_7.9p1":     false,
		"Dropbear v2022.83": false,
		"":                  false,
	} {
		t.Run(said, func(t *testing.T) {
			target := Target{host: "box", newer: since87(said)}
			if got := slices.Contains(target.dialArgs(false), "ForkAfterAuthentication=no"); got != want {
				t.Errorf("it is told not to fork: %v", got)
			}
		})
	}
}

// What is an address gives ssh one host, and neither an option nor a shell anything else.
func FuzzSSHAddress(f *testing.F) {
	for _, s := range []string{"ssh://me@box:22/run/docker.sock", "ssh://[::1]", "ssh://-oProxyCommand=x/", "ssh://a%20b@c", "ssh://x:y@z", "ssh://a/$(id)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		target, err := Parse(address)
		if err != nil {
			return
		}
		for _, args := range [][]string{target.dialArgs(false), target.forwardArgs("/tmp/x/s", false)} {
			end := slices.Index(args, "--")
			if end < 0 || args[end+1] != target.host || strings.HasPrefix(target.host, "-") || strings.HasPrefix(target.user, "-") {
				t.Fatalf("ssh %q", args)
			}
			for _, word := range append([]string{target.host}, args[end+2:]...) {
				if word == "" || strings.ContainsAny(word, " \t\r\n'\"`$&;|<>(){}*?\\") {
					t.Fatalf("ssh %q", args)
				}
			}
		}
	})
}
