package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// clientsAuthorizeCommand prints a line for authorized_keys.
func clientsAuthorizeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "authorize NAME",
		Short: "Let the owner of an SSH key answer waiting calls, and do nothing else",
		Long: `Read a public SSH key, such as that of a phone, from standard input, and print the line for
~/.ssh/authorized_keys that lets its owner answer waiting calls, and do nothing else. sshd runs
'attach --answer-only --name NAME' in place of any requested command, and refuses shells, files
and forwarding. Only waiting calls are shown; records name who answered.

The line has the path of this program, except when it is in /usr/local/bin, /usr/bin or /bin,
where every sshd finds it, and IRONCURTAIN_HOME if that is set. To revoke the right, remove the
line.`,
		Example: "  ironcurtain-mux clients authorize phone < phone.pub >> ~/.ssh/authorized_keys",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "authorize client"
			if err := cli.CheckName(args[0]); err != nil {
				return &cli.UsageError{Err: cli.Fail(op, err, "")}
			}
			key, err := readPublicKey(cmd.InOrStdin())
			if err != nil {
				return cli.Fail(op, err, cli.RemedyOf(err, "give the line of a .pub file: clients authorize NAME < key.pub"))
			}
			program, err := programForSSHD()
			if err != nil {
				return cli.Fail(op, err, "")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "restrict,pty,command=\"%s attach --answer-only --name %s\" %s\n", program, args[0], key)
			return cli.Fail(op, err, "")
		},
	}
}

// maxPublicKey bounds the text of a public key, in bytes; the longest RSA keys have 3 KiB.
const maxPublicKey = 16 << 10

// keyParts is the number of parts in a public key of each type, including the type.
var keyParts = map[string]int{
	"ssh-ed25519":                        2,
	"ssh-rsa":                            3,
	"ecdsa-sha2-nistp256":                3,
	"ecdsa-sha2-nistp384":                3,
	"ecdsa-sha2-nistp521":                3,
	"sk-ssh-ed25519@openssh.com":         3,
	"sk-ecdsa-sha2-nistp256@openssh.com": 4,
}

// readPublicKey reads the one public key of a .pub file and returns it without its comment.
func readPublicKey(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPublicKey+1))
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(string(text))
	fields := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, "-----BEGIN"):
		return "", fault.New("the public key is in the file beside it whose name ends in .pub", "this is not a public key; give a private key to nobody")
	case len(fields) == 0:
		return "", errors.New("there is no key on standard input")
	case len(text) > maxPublicKey || strings.ContainsAny(line, "\r\n"):
		return "", errors.New("there is more than one line on standard input")
	case keyParts[fields[0]] == 0:
		return "", errors.New("the line does not begin with the type of a public key, such as ssh-ed25519")
	case len(fields) == 1:
		return "", errors.New("the line has no key after its type")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(fields[1])
	if err != nil || !consistsOf(blob, fields[0], keyParts[fields[0]]) {
		return "", fmt.Errorf("what follows %s is not a complete key of that type", fields[0])
	}
	return fields[0] + " " + fields[1], nil
}

// consistsOf reports whether a key begins with its type and has exactly that many parts, none of
// them empty.
func consistsOf(blob []byte, kind string, parts int) bool {
	for i := range parts {
		if len(blob) < 4 {
			return false
		}
		size := binary.BigEndian.Uint32(blob)
		if blob = blob[4:]; size == 0 || uint64(size) > uint64(len(blob)) {
			return false
		}
		if i == 0 && !bytes.Equal(blob[:size], []byte(kind)) {
			return false
		}
		blob = blob[size:]
	}
	return len(blob) == 0
}

// programForSSHD returns the name or path of this program for a line of authorized_keys, with the state
// directory that the environment names: sshd does not pass it on.
func programForSSHD() (string, error) {
	found, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(found)
	if err != nil {
		return "", err
	}
	if slices.Contains([]string{"/usr/local/bin", "/usr/bin", "/bin"}, filepath.Dir(path)) {
		path = filepath.Base(path)
	}
	if cli.SafeName(path) != path {
		return "", fault.New("install it in /usr/local/bin", "the path of this program, %q, cannot be written in authorized_keys", path)
	}
	p, err := wiring.FindPaths()
	switch {
	case err != nil:
		return "", err
	case os.Getenv("IRONCURTAIN_HOME") == "":
		return path, nil
	case cli.SafeName(p.Home) != p.Home:
		return "", fault.New("use a path of letters, digits and - _ . /", "IRONCURTAIN_HOME, %q, cannot be written in authorized_keys", p.Home)
	}
	return "env IRONCURTAIN_HOME=" + p.Home + " " + path, nil
}
