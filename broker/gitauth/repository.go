package gitauth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// repositoryScript is the program that reads and changes a repository. It runs in a sandbox, because
// the repository's links and settings could make git on the host write anywhere. Each line of its
// input is a request:
//
//	show REVISION              prints the commit, as git cat-file --batch does
//	list REVISIONS             prints the ids that git rev-list prints, oldest first, and an empty line
//	merge OURS THEIRS          prints the tree of the merge of two commits, or nothing
//	apply BASE OURS THEIRS     prints the tree of OURS with the change from BASE to THEIRS, or
//	                           nothing; all three are trees
//	store SIZE                 reads a commit of that size, stores it and prints its id
//	move NEW OLD               moves HEAD from one commit to the other, and prints "moved"
//
// It makes trees in an empty repository, so that no setting, attribute or replacement of the
// repository affects them.
const repositoryScript = `cd "$1" || exit 1
export GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0
git() { command git -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }
beside=
prepare() {
	[ -z "$beside" ] || return 0
	objects=$(cd "$(git rev-parse --git-path objects)" && pwd) && beside=$(mktemp -d) &&
		git init -q --bare --template= --object-format="$(git rev-parse --show-object-format)" "$beside"
}
clean() {
	GIT_DIR=$beside GIT_ALTERNATE_OBJECT_DIRECTORIES=$objects GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x git "$@" 2>/dev/null
}
merged() { tree=$(clean merge-tree --write-tree --no-messages "$1" "$2") && echo "$tree" || echo; }
while read -r verb a b c; do
	case $verb in
	show) echo "$a^{commit}" | git cat-file --batch ;;
	list) git rev-list --reverse --topo-order --no-merges --max-count=1000 "$a" -- 2>/dev/null; echo ;;
	merge) prepare && merged "$a" "$b" || echo ;;
	apply)
		prepare && base=$(clean commit-tree -m x "$a") && ours=$(clean commit-tree -m x -p "$base" "$b") &&
			theirs=$(clean commit-tree -m x -p "$base" "$c") && merged "$ours" "$theirs" || echo ;;
	store) head -c "$a" | git hash-object -w -t commit --stdin ;;
	move) git update-ref -m signed HEAD "$a" "$b" && echo moved ;;
	esac || break
done
[ -z "$beside" ] || rm -rf "$beside"`

// RepositoryArgv returns the command line of the program for the sandbox. dir is the repository.
func RepositoryArgv(dir string) []string {
	return []string{"/bin/sh", "-c", repositoryScript, "sh", dir}
}

// commits reads and stores the commits of a repository of the agent's, through
// repositoryScript.
type commits struct {
	in  io.Writer
	out *bufio.Reader
}

// object is a commit of the repository. The zero value means that there is none.
type object struct {
	id   string
	data []byte
}

// errSilent means that the script has ended.
var errSilent = errors.New("git does not answer")

// ask sends a request. It refuses words with white space.
func (r commits) ask(words ...string) error {
	unfit := func(w string) bool { return w == "" || w[0] == '-' || strings.ContainsAny(w, " \t\n\\") }
	if slices.ContainsFunc(words, unfit) {
		return fmt.Errorf("%q is not the name of a revision", words)
	}
	if _, err := io.WriteString(r.in, strings.Join(words, " ")+"\n"); err != nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return nil
}

// line reads one line of an answer. It fails if the line is longer than the buffer.
func (r commits) line() (string, error) {
	line, err := r.out.ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("%w: %w", errSilent, err)
	}
	return string(line[:len(line)-1]), nil
}

// show returns the commit that a revision names, or the zero object if there is none.
func (r commits) show(revision string) (object, error) {
	if err := r.ask("show", revision); err != nil {
		return object{}, err
	}
	head, err := r.line()
	if err != nil {
		return object{}, err
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return object{}, nil
	}
	if len(fields) != 3 || !isID(fields[0]) || fields[1] != "commit" {
		return object{}, fmt.Errorf("%s is not a commit", revision)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size > maxCommit {
		return object{}, fmt.Errorf("the commit has more than %d bytes", maxCommit)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return object{}, fmt.Errorf("%w: %w", errSilent, err)
	}
	return object{fields[0], data[:size]}, nil
}

// list returns the ids of the commits in a range, without merges, the oldest first.
func (r commits) list(revisions string) (ids []string, err error) {
	if err := r.ask("list", revisions); err != nil {
		return nil, err
	}
	for {
		line, err := r.line()
		if err != nil || line == "" {
			return ids, err
		}
		ids = append(ids, line)
	}
}

// tree sends a request merge or apply, and returns the tree, or "" if git cannot make it.
func (r commits) tree(words ...string) (string, error) {
	if err := r.ask(words...); err != nil {
		return "", err
	}
	return r.line()
}

// store stores a commit and returns its id.
func (r commits) store(data []byte) (id string, err error) {
	if err := r.ask("store", strconv.Itoa(len(data))); err != nil {
		return "", err
	}
	if _, err := r.in.Write(data); err != nil {
		return "", fmt.Errorf("%w: %w", errSilent, err)
	}
	return r.line()
}

// move moves HEAD from one commit to another. It fails if HEAD was moved meanwhile.
func (r commits) move(to, from string) error {
	if err := r.ask("move", to, from); err != nil {
		return err
	}
	if line, err := r.line(); err != nil || line != "moved" {
		return fault.New(lookNext, "git did not move HEAD, perhaps because something else has moved it")
	}
	return nil
}
