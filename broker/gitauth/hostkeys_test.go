package gitauth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// keyPair makes a key and returns its public one, as a file of known hosts has it.
func keyPair(t *testing.T, kind string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	run(t, "ssh-keygen", "-q", "-t", kind, "-N", "", "-f", path)
	data, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data))[:2], " ")
}

func TestHostKeys(t *testing.T) {
	w := newWorld(t)
	a, b := keyPair(t, "ed25519"), keyPair(t, "rsa")
	first, second := filepath.Join(w.home, "known_hosts"), filepath.Join(w.home, "known_hosts2")
	plain := sshConfig{host: "git.example.com", knownAs: "git.example.com", portInName: true, port: 22, user: "git", knownHosts: []string{first, second, filepath.Join(w.home, "none")}}
	other := plain
	other.port = 2222
	alias := plain
	alias.knownAs, alias.portInName, alias.port = "work", false, 2222
	for _, tt := range []struct {
		name       string
		config     sshConfig
		text, more string
		hash       bool
		want       string // the keys, or a part of the error
	}{
		{"plain", plain, "git.example.com " + a, "", false, a},
		{"upper case and an address", plain, "Git.Example.com,192.0.2.1 " + a, "", false, a},
		{"pattern", plain, "*.example.com " + a, "", false, a},
		{"negated", plain, "*.example.com,!git.example.com " + a, "", false, "is not in your known_hosts"},
		{"hashed", plain, "git.example.com " + a, "", true, a},
		{"two files", plain, "git.example.com " + a, "git.example.com " + b, false, a + "," + b},
		{"port", other, "[git.example.com]:2222 " + a + "\ngit.example.com " + b, "", false, a},
		{"hashed port", other, "[git.example.com]:2222 " + a, "", true, a},
		{"without the port", other, "git.example.com " + a, "", false, a},
		{"another port", other, "[git.example.com]:2223 " + a, "", false, "[git.example.com]:2222 is not in your known_hosts"},
		{"the port of another", plain, "[git.example.com]:2222 " + a, "", false, "is not in your known_hosts"},
		{"alias", alias, "work " + a + "\ngit.example.com " + b, "", false, a},
		{"revoked", plain, "git.example.com " + a, "@revoked * " + a, false, "marked as revoked"},
		{"revoked, with another", plain, "git.example.com " + a + "\n@revoked git.example.com " + a, "git.example.com " + b, false, b},
		{"authority", plain, "@cert-authority *.example.com " + a, "", false, "only a certificate authority"},
		{"authority, with a key", plain, "@cert-authority *.example.com " + a + "\ngit.example.com " + b, "", false, b},
		{"nothing", plain, "", "", false, "git.example.com is not in your known_hosts"},
		{"rubbish", plain, "git.example.com ssh-ed25519 AAAA\nrubbish", "", false, "is not in your known_hosts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(t, first, tt.text+"\n", 0o600)
			write(t, second, tt.more+"\n", 0o600)
			if tt.hash {
				run(t, "ssh-keygen", "-q", "-H", "-f", first)
			}
			keys, err := tt.config.hostKeys(t.Context())
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || fault.Hint(err) == "" {
					t.Errorf("%v (%s), want %q", err, fault.Hint(err), tt.want)
				}
				return
			}
			got := strings.ReplaceAll(strings.TrimSpace(string(knownHostsFile(keys))), "\n", ",")
			if got = strings.ReplaceAll(got, hostAlias+" ", ""); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// The person's configuration leads to the host, the user and the keys; what would run
// programs on the way is refused or has no effect.
func TestSSHConfiguration(t *testing.T) {
	w := newWorld(t)
	ran := filepath.Join(w.home, "ran")
	configFile = filepath.Join(w.home, ".ssh", "config")
	t.Cleanup(func() { configFile = "" })
	write(t, configFile, fmt.Sprintf(`Host work
  HostName git.example.com
  User deploy
  Port 2222
  IdentityFile %[1]s/work_key
  IdentitiesOnly yes
  IdentityAgent %[1]s/agent.sock
  HostKeyAlias work-key
  UserKnownHostsFile %[1]s/hosts %[1]s/hosts2
  LocalCommand touch %[2]s
  PermitLocalCommand yes
  RemoteCommand touch %[2]s
  KnownHostsCommand /usr/bin/touch %[2]s
Host far
  ProxyJump bastion
Host farther
  ProxyCommand touch %[2]s
Host odd
  HostName "-oProxyCommand=x"
`, w.home, ran), 0o600)
	c, err := readConfig(t.Context(), address(t, "work:team/repo.git"))
	if err != nil {
		t.Fatal(err, fault.Hint(err))
	}
	want := sshConfig{
		host: "git.example.com", user: "deploy", port: 2222, knownAs: "work-key", agent: w.home + "/agent.sock",
		identityFiles: []string{w.home + "/work_key"}, identitiesOnly: true,
	}
	if len(c.knownHosts) < 2 || c.knownHosts[0] != w.home+"/hosts" || c.knownHosts[1] != w.home+"/hosts2" {
		t.Errorf("known hosts in %q", c.knownHosts)
	}
	c.knownHosts = nil
	if fmt.Sprint(c) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if c, err := readConfig(t.Context(), address(t, "ssh://me@git.example.org:2022/repo")); err != nil || c.user != "me" || c.port != 2022 || c.host != "git.example.org" {
		t.Errorf("%+v, %v", c, err)
	}
	for host, says := range map[string]string{"far": "proxyjump", "farther": "proxycommand", "odd": "ssh configuration"} {
		if _, err := readConfig(t.Context(), address(t, "git@"+host+":repo")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a command of the configuration ran")
	}
}
