package gitauth

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// signLimit is how long a signature may take. A test may lower it.
var signLimit = 10 * time.Second

// maxCommit bounds a commit, in bytes, so that with its signature it still fits into maxAnswer.
const maxCommit = maxAnswer / 2

// Signer signs commits as the person's configuration of git says.
type Signer struct {
	words  string
	format string // openpgp or ssh
	who    string // "name <mail>" of the person; parts that are not configured are empty
}

// String describes the key, for the approval panel.
func (s Signer) String() string { return s.words }

// FindSigner returns how the person signs commits, or false if they do not (commit.gpgSign). It does
// not read a repository's configuration.
func FindSigner(ctx context.Context) (Signer, bool, error) {
	if sign, err := personal(ctx, "--type=bool", "commit.gpgSign"); err != nil || sign != "true" {
		return Signer{}, false, err
	}
	var values [4]string
	for i, name := range []string{"gpg.format", "user.signingKey", "user.name", "user.email"} {
		var err error
		if values[i], err = personal(ctx, "--no-type", name); err != nil {
			return Signer{}, true, err
		}
	}
	format, key := cmp.Or(values[0], "openpgp"), values[1]
	s := Signer{format: format, who: values[2] + " <" + values[3] + ">"}
	switch {
	case format == "ssh":
		s.words = "ssh key " + sshKeyWords(ctx, key)
	case format == "openpgp" && key == "":
		s.words = "openpgp key of " + s.who
	case format == "openpgp":
		s.words = "openpgp key " + strconv.Quote(key)
	default:
		return Signer{}, true, fault.New("set gpg.format to openpgp or ssh", "commits are not signed in the format %q here", format)
	}
	if len(s.words) > maxWords {
		s.words = strings.ToValidUTF8(s.words[:maxWords], "") + "…"
	}
	return s, true, nil
}

// maxWords bounds the name of a key, in bytes.
const maxWords = 200

// personal returns a value in the person's git configuration, or "".
func personal(ctx context.Context, kind, name string) (string, error) {
	out, err := ask(ctx, "", "git", "config", kind, "--get", name)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1 means not set
		return "", fault.Wrap("read git's configuration", err, "see what 'git config --list' says outside of a repository")
	}
	return strings.TrimSpace(string(out)), nil
}

// sshKeyWords describes an SSH key by the fingerprint and the comment of the public key. If the
// public key is not found, it returns the setting.
func sshKeyWords(ctx context.Context, key string) string {
	if key == "" {
		return "that gpg.ssh.defaultKeyCommand names"
	}
	text := []byte(strings.TrimPrefix(key, "key::"))
	if path, err := personal(ctx, "--type=path", "user.signingKey"); err == nil && !strings.HasPrefix(key, "key::") && !strings.HasPrefix(key, "ssh-") {
		if text, err = os.ReadFile(strings.TrimSuffix(path, ".pub") + ".pub"); err != nil {
			return strconv.Quote(key)
		}
	}
	public, comment, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return strconv.Quote(key)
	}
	words := ssh.FingerprintSHA256(public)
	if comment != "" {
		words += " (" + comment + ")"
	}
	return words
}

// Sign returns the same commit with the person's signature, and its id. commit is the commit as "git
// cat-file commit" prints it. Tree, parents, author, committer and message stay the same, byte for
// byte. Sign fails if git cannot make the same commit again.
//
// Git on the host signs in an empty repository of its own, with stand-ins for the tree and the
// parents, because git only checks that they exist. So the host does not access the agent's
// repository: the sandbox stores the commit and moves the branch.
func (s Signer) Sign(ctx context.Context, commit []byte) (signed []byte, id string, err error) {
	const next = "unlock the key, for example with 'echo x | gpg --sign >/dev/null' or 'ssh-add', then sign the commit yourself: git commit --amend -S"
	c, err := parseCommit(commit)
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "sign the commit yourself: git commit --amend -S")
	}
	dir, err := os.MkdirTemp("", "gitauth-")
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "check that you can write to "+os.TempDir())
	}
	defer os.RemoveAll(dir)
	format := "sha1"
	if len(c.tree) == 64 {
		format = "sha256"
	}
	git := program{dir: dir, limit: signLimit, env: append(c.identity(), "GIT_DIR="+dir, "GIT_TEMPLATE_DIR=", "GPG_TTY=")}
	git.argv = []string{"git", "init", "-q", "--bare", "--object-format=" + format, dir}
	if _, err = git.run(ctx, ""); err == nil {
		err = c.standIns(dir)
	}
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "check that git works, and that you can write to "+os.TempDir())
	}
	quiet, err := s.withoutPinentry(ctx, dir)
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, next)
	}
	git.argv = append(append([]string{"git", "-c", "i18n.commitEncoding=UTF-8"}, quiet...), "commit-tree", "-S", c.tree)
	for _, parent := range c.parents {
		git.argv = append(git.argv, "-p", parent)
	}
	out, err := git.run(ctx, c.message)
	if err != nil {
		return nil, "", fault.New(next, "sign the commit (%s): git failed: %w", s, err)
	}
	id = strings.TrimSpace(string(out))
	git.argv = []string{"git", "cat-file", "commit", id}
	if signed, err = git.run(ctx, ""); err != nil {
		return nil, "", fault.Wrap("sign the commit", err, next)
	}
	without, found := withoutSignature(signed)
	if found && !bytes.Contains(signed, []byte("-----END PGP SIGNATURE-----\n")) && !bytes.Contains(signed, []byte("-----END SSH SIGNATURE-----\n")) {
		return nil, "", fault.New(next, "sign the commit (%s): the output of the signing program is not a signature", s)
	}
	if !found || !bytes.Equal(without, commit) {
		return nil, "", fault.New("sign the commit yourself: git commit --amend -S", "sign the commit: git cannot make the same commit again")
	}
	return signed, id, nil
}

// withoutPinentry returns settings for git that make gpg fail instead of asking for a passphrase.
// Otherwise gpg's agent would ask on the terminal from which it was started.
func (s Signer) withoutPinentry(ctx context.Context, dir string) ([]string, error) {
	if s.format != "openpgp" {
		return nil, nil
	}
	program, err := personal(ctx, "--type=path", "gpg.openpgp.program")
	if err == nil && program == "" {
		program, err = personal(ctx, "--type=path", "gpg.program")
	}
	if err != nil {
		return nil, err
	}
	script := "#!/bin/sh\nexec '" + strings.ReplaceAll(cmp.Or(program, "gpg"), "'", `'\''`) + "' --pinentry-mode error \"$@\"\n"
	path := filepath.Join(dir, "gpg")
	return []string{"-c", "gpg.program=" + path, "-c", "gpg.openpgp.program=" + path}, os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // git runs it
}

// commit is what git needs to make a commit again.
type commit struct {
	tree              string
	parents           []string
	author, committer string
	message           string
}

// parseCommit parses a commit. It refuses headers other than tree, parent, author and committer.
func parseCommit(data []byte) (commit, error) {
	var c commit
	if len(data) > maxCommit {
		return c, fmt.Errorf("the commit has more than %d bytes", maxCommit)
	}
	head, message, ok := strings.Cut(string(data), "\n\n")
	if !ok || strings.Contains(message, "\x00") {
		return c, errors.New("the commit is malformed")
	}
	c.message = message
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, " ")
		switch {
		case name == "tree" && c.tree == "" && isID(value):
			c.tree = value
		case name == "parent" && c.author == "" && isID(value) && len(value) == len(c.tree) && len(c.parents) < 64:
			c.parents = append(c.parents, value)
		case name == "author" && c.author == "":
			c.author = value
		case name == "committer" && c.committer == "":
			c.committer = value
		default:
			return c, fmt.Errorf("the header %.40q of the commit is not supported", name)
		}
	}
	if c.tree == "" || c.author == "" || c.committer == "" {
		return c, errors.New("the commit is malformed")
	}
	return c, nil
}

// isID reports whether a text is the id of an object.
func isID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 40 || len(s) == 64) && s == strings.ToLower(s)
}

// identity returns author and committer as variables of git's environment.
func (c commit) identity() []string {
	var env []string
	for name, who := range map[string]string{"AUTHOR": c.author, "COMMITTER": c.committer} {
		person, date, _ := strings.Cut(who, "> ")
		name0, email, _ := strings.Cut(person, " <")
		env = append(env, "GIT_"+name+"_NAME="+name0, "GIT_"+name+"_EMAIL="+email, "GIT_"+name+"_DATE=@"+date)
	}
	return env
}

// standIns writes empty objects with the ids of the tree and the parents.
func (c commit) standIns(dir string) error {
	for i, id := range append([]string{c.tree}, c.parents...) {
		kind := "commit"
		if i == 0 {
			kind = "tree"
		}
		var object bytes.Buffer
		z := zlib.NewWriter(&object)
		_, err := z.Write([]byte(kind + " 0\x00"))
		path := filepath.Join(dir, "objects", id[:2], id[2:])
		if err = errors.Join(err, z.Close(), os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
			return err
		}
		if err := os.WriteFile(path, object.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// withoutSignature removes the header with the signature, and reports whether there was one.
func withoutSignature(commit []byte) (rest []byte, found bool) {
	head, message, _ := strings.Cut(string(commit), "\n\n")
	var lines []string
	inside := false
	for line := range strings.SplitSeq(head, "\n") {
		inside = inside && strings.HasPrefix(line, " ") || strings.HasPrefix(line, "gpgsig ") || strings.HasPrefix(line, "gpgsig-sha256 ")
		if inside {
			found = true
			continue
		}
		lines = append(lines, line)
	}
	return []byte(strings.Join(lines, "\n") + "\n\n" + message), found
}
