package gitauth

import (
	"bytes"
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

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// signLimit is how long a signature may take: a person may have to touch or unlock a key.
const signLimit = time.Minute

// maxCommit bounds a commit that is signed, in bytes. With its signature it is still one
// answer of a program.
const maxCommit = maxAnswer / 2

// Signer signs commits as the person's configuration of git says.
type Signer struct{ words string }

// String says with which key, in words for a panel.
func (s Signer) String() string { return s.words }

// FindSigner returns how the person signs their commits, or false if their configuration
// does not say that they do (commit.gpgSign). What a repository's own configuration says
// has no part in it.
func FindSigner(ctx context.Context) (Signer, bool, error) {
	settings := map[string]string{}
	for _, name := range []string{"commit.gpgSign", "gpg.format", "user.signingKey"} {
		argv := []string{"git", "config", "--get", name}
		if name == "commit.gpgSign" {
			argv = []string{"git", "config", "--type=bool", "--get", name}
		}
		out, err := ask(ctx, "", argv...)
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: it is not set
			return Signer{}, false, fault.Wrap("read git's configuration", err, "see what 'git config --list' says outside of a repository")
		}
		settings[name] = strings.TrimSpace(string(out))
	}
	if settings["commit.gpgSign"] != "true" {
		return Signer{}, false, nil
	}
	format, key := settings["gpg.format"], settings["user.signingKey"]
	if format == "" {
		format = "openpgp"
	}
	if key == "" {
		key = "the default key"
	} else if key = strconv.Quote(key); len(key) > 80 {
		key = key[:80] + "…"
	}
	return Signer{words: "signed with " + key + " (" + format + ")"}, true, nil
}

// Sign returns the same commit with the person's signature, and its id. commit is the
// commit as "git cat-file commit" prints it. Tree, parents, author, committer and message
// stay as they are, byte for byte; a commit that git could not make again like that is an
// error.
//
// The host's git signs, in a repository of its own that holds nothing: for the tree and the
// parents there are stand-ins, because git only looks whether they are there. So nothing of
// the agent's repository is read on the host, and nothing is written to it: the sandbox has
// to store the commit and to move the branch.
func (s Signer) Sign(ctx context.Context, commit []byte) (signed []byte, id string, err error) {
	const next = "see that 'git commit -S' works here without asking on the terminal"
	c, err := parseCommit(commit)
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "sign it yourself: git commit --amend -S")
	}
	dir, err := os.MkdirTemp("", "gitauth-")
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "see that you can write to "+os.TempDir())
	}
	defer os.RemoveAll(dir)
	format := "sha1"
	if len(c.tree) == 64 {
		format = "sha256"
	}
	git := program{dir: dir, limit: signLimit, env: append(c.identity(), "GIT_DIR="+dir, "GIT_TEMPLATE_DIR=")}
	git.argv = []string{"git", "init", "-q", "--bare", "--object-format=" + format, dir}
	if _, err = git.run(ctx, ""); err == nil {
		err = c.standIns(dir)
	}
	if err != nil {
		return nil, "", fault.Wrap("sign the commit", err, "see that git works, and that you can write to "+os.TempDir())
	}
	git.argv = []string{"git", "-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S", c.tree}
	for _, parent := range c.parents {
		git.argv = append(git.argv, "-p", parent)
	}
	out, err := git.run(ctx, c.message)
	if err != nil {
		return nil, "", fault.New(next, "sign the commit (%s): git could not: %w", s, err)
	}
	id = strings.TrimSpace(string(out))
	git.argv = []string{"git", "cat-file", "commit", id}
	if signed, err = git.run(ctx, ""); err != nil {
		return nil, "", fault.Wrap("sign the commit", err, next)
	}
	without, found := withoutSignature(signed)
	if !found || !bytes.Equal(without, commit) {
		return nil, "", fault.New("sign it yourself: git commit --amend -S", "sign the commit: git would make another commit of it")
	}
	return signed, id, nil
}

// commit is what git needs to make a commit again.
type commit struct {
	tree              string
	parents           []string
	author, committer string
	message           string
}

// parseCommit takes a commit apart. One with headers besides the usual four is refused.
func parseCommit(data []byte) (commit, error) {
	var c commit
	if len(data) > maxCommit {
		return c, fmt.Errorf("it has more than %d bytes", maxCommit)
	}
	head, message, ok := strings.Cut(string(data), "\n\n")
	if !ok || strings.Contains(message, "\x00") {
		return c, errors.New("it is malformed")
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
			return c, fmt.Errorf("its header %.40q is not supported", name)
		}
	}
	if c.tree == "" || c.author == "" || c.committer == "" {
		return c, errors.New("it is malformed")
	}
	return c, nil
}

// isID reports whether a text is the id of an object.
func isID(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && (len(s) == 40 || len(s) == 64) && s == strings.ToLower(s)
}

// identity is author and committer, as git takes them from its environment.
func (c commit) identity() []string {
	var env []string
	for name, who := range map[string]string{"AUTHOR": c.author, "COMMITTER": c.committer} {
		person, date, _ := strings.Cut(who, "> ")
		name0, email, _ := strings.Cut(person, " <")
		env = append(env, "GIT_"+name+"_NAME="+name0, "GIT_"+name+"_EMAIL="+email, "GIT_"+name+"_DATE=@"+date)
	}
	return env
}

// standIns puts empty objects under the ids of the tree and the parents.
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
