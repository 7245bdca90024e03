package gitauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// hostKeys returns the keys that the person's files of known hosts have for the host. It fails for a
// host that is not there, because no host is trusted on first use. It also fails for a host that is
// only known by a certificate authority, because an agent's connection is bound to a key, which the
// files then do not have.
func (c sshConfig) hostKeys(ctx context.Context) ([]ssh.PublicKey, error) {
	names := []string{c.knownAs}
	if c.portInName && c.port != 22 { // like ssh: first with the port, then without
		names = []string{fmt.Sprintf("[%s]:%d", c.knownAs, c.port), c.knownAs}
	}
	next := fmt.Sprintf("connect once yourself and compare the key: ssh -T -p %d %s@%s", c.port, c.user, c.host)
	for _, name := range names {
		found, err := c.search(ctx, name)
		switch {
		case err != nil:
			return nil, fault.Wrap("look for the key of "+name, err, "fix the file")
		case len(found.keys) > 0:
			return found.keys, nil
		case found.revoked:
			return nil, fault.New("ask those who run the host for its new key", "the key of %s is marked as revoked in your known_hosts", name)
		case found.authority:
			return nil, fault.New(next, "your known_hosts has only a certificate authority for %s, which is not supported here", name)
		}
	}
	return nil, fault.New(next, "%s is not in your known_hosts", names[0])
}

// known is what files of known hosts say about a name.
type known struct {
	keys               []ssh.PublicKey
	revoked, authority bool
}

// search looks up a name in all files. ssh-keygen compares names as ssh does, including hashed names
// and patterns.
func (c sshConfig) search(ctx context.Context, name string) (known, error) {
	var all known
	bad := map[string]bool{}
	for _, file := range c.knownHosts {
		if _, err := os.Stat(file); err != nil {
			continue
		}
		out, err := ask(ctx, "", "ssh-keygen", "-F", name, "-f", file)
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) { // ssh-keygen fails if it finds nothing
			return known{}, err
		}
		for line := range strings.SplitSeq(string(out), "\n") {
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			marker, _, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
			if err != nil {
				continue // an unknown type of key
			}
			switch marker {
			case "":
				all.keys = append(all.keys, key)
			case "revoked":
				bad[string(key.Marshal())], all.revoked = true, true
			default:
				all.authority = true
			}
		}
	}
	var good []ssh.PublicKey
	for _, key := range all.keys {
		if !bad[string(key.Marshal())] {
			good = append(good, key)
		}
	}
	all.keys = good
	return all, nil
}

// hostAlias is the name of the host in the file of known hosts that is made for a call.
const hostAlias = "approved-host"

// knownHostsFile returns the content of that file, which has only the given keys.
func knownHostsFile(keys []ssh.PublicKey) []byte {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(hostAlias + " " + string(ssh.MarshalAuthorizedKey(key)))
	}
	return []byte(b.String())
}

// keyAlgorithms lists the algorithms with which a host can prove that it has one of the keys.
func keyAlgorithms(keys []ssh.PublicKey) string {
	var all []string
	seen := map[string]bool{}
	for _, key := range keys {
		switch kind := key.Type(); {
		case seen[kind]:
		case kind == ssh.KeyAlgoRSA: // not with SHA-1
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			all = append(all, kind)
		}
		seen[key.Type()] = true
	}
	return strings.Join(all, ",")
}
