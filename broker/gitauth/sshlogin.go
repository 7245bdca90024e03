package gitauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// SSHLogin says how the person logs in at an SSH remote: the user, the host and its keys, and the
// person's keys.
type SSHLogin struct {
	config sshConfig
	keys   []ssh.PublicKey     // of the host
	files  agent.ExtendedAgent // private keys from files
	named  map[string]bool     // the public keys that the configuration names for the host
	words  string
}

// String describes the login, for the approval panel.
func (l SSHLogin) String() string { return l.words }

// GoString returns String, so that %#v does not show more.
func (l SSHLogin) GoString() string { return l.words }

// FindSSH finds out from the person's ssh configuration how they log in at an SSH remote. Only a
// direct connection to one host is supported, and a command in place of ssh (core.sshCommand) is not
// used. The keys are those of the person's agent and, because the person may have no agent, those in
// key files that are not encrypted. These private keys stay in this process.
func FindSSH(ctx context.Context, remote gitx.Address) (SSHLogin, error) {
	if remote.Scheme != "ssh" {
		return SSHLogin{}, errScheme
	}
	config, err := readConfig(ctx, remote)
	if err != nil {
		return SSHLogin{}, err
	}
	l := SSHLogin{config: config, files: agent.NewKeyring().(agent.ExtendedAgent), named: map[string]bool{}}
	if l.keys, err = config.hostKeys(ctx); err != nil {
		return SSHLogin{}, err
	}
	inAgent, err := l.agentKeys(ctx)
	names, encrypted := l.readKeyFiles(inAgent)
	var from []string
	if n := l.count(inAgent); n == 1 {
		from = append(from, "the SSH agent (1 key)")
	} else if n > 1 {
		from = append(from, fmt.Sprintf("the SSH agent (%d keys)", n))
	}
	if len(names) > 0 {
		from = append(from, "the key files "+strings.Join(names, ", "))
	}
	switch {
	case len(from) > 0:
	case err != nil:
		return SSHLogin{}, fault.Wrap("ask your SSH agent for its keys", err, "see what 'ssh-add -l' says")
	case encrypted != "":
		return SSHLogin{}, fault.New("run 'ssh-add "+encrypted+"', then try again", "the key %s is encrypted, and no SSH agent has it", encrypted)
	default:
		return SSHLogin{}, fault.New("start an SSH agent and run 'ssh-add', then try again", "there is no SSH key to log in at %s with", config.host)
	}
	l.words = fmt.Sprintf("user %s at %s, from %s; host key %s", config.user, net.JoinHostPort(config.host, fmt.Sprint(config.port)), strings.Join(from, " and "), ssh.FingerprintSHA256(l.keys[0]))
	return l, nil
}

// agentKeys returns the public keys of the person's agent.
func (l *SSHLogin) agentKeys(ctx context.Context) (map[string]bool, error) {
	keys := map[string]bool{}
	if l.config.agent == "" {
		return keys, nil
	}
	conn, err := l.dialAgent(ctx)
	if err != nil {
		return keys, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(askLimit)); err != nil {
		return keys, err
	}
	list, err := agent.NewClient(conn).List()
	for _, key := range list {
		keys[string(key.Blob)] = true
	}
	return keys, err
}

// count returns how many of the keys may be used.
func (l *SSHLogin) count(keys map[string]bool) (n int) {
	for key := range keys {
		if l.allows([]byte(key)) {
			n++
		}
	}
	return n
}

// dialAgent connects to the person's agent.
func (l *SSHLogin) dialAgent(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: askLimit}
	return dialer.DialContext(ctx, "unix", l.config.agent)
}

// allows reports whether the person's configuration lets this key be used here
// (IdentitiesOnly).
func (l *SSHLogin) allows(blob []byte) bool { return !l.config.identitiesOnly || l.named[string(blob)] }

// maxKeyFile bounds a key file, in bytes.
const maxKeyFile = 64 << 10

// readKeyFiles reads the key files that the configuration names, except keys that the agent has. It
// returns the names of the files that can be used, and the path of one that is encrypted.
func (l *SSHLogin) readKeyFiles(inAgent map[string]bool) (names []string, encrypted string) {
	for _, path := range l.config.identityFiles {
		l.name(readBounded(path + ".pub"))
		data := readBounded(path)
		l.name(data) // IdentityFile may name a public key whose private key is in the agent
		key, err := ssh.ParseRawPrivateKey(data)
		var locked *ssh.PassphraseMissingError
		if errors.As(err, &locked) {
			encrypted = path
			if locked.PublicKey != nil {
				l.named[string(locked.PublicKey.Marshal())] = true
			}
		}
		if err != nil {
			continue
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			continue
		}
		public := string(signer.PublicKey().Marshal())
		l.named[public] = true
		if !inAgent[public] && l.files.Add(agent.AddedKey{PrivateKey: key, Comment: path}) == nil {
			names = append(names, filepath.Base(path))
		}
	}
	return names, encrypted
}

// name adds the public key in a file's text to the keys that the configuration names.
func (l *SSHLogin) name(text []byte) {
	if key, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		l.named[string(key.Marshal())] = true
	}
}

// readBounded returns the content of a small file, or nil.
func readBounded(path string) []byte {
	data, _ := bounded.ReadFile(os.OpenFile, path, maxKeyFile) // what cannot be read is no key
	return data
}
