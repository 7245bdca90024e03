package oauth

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"os/user"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// security is the program of macOS that reads and writes the keychain.
const security = "/usr/bin/security"

const (
	// keychainTime bounds one run of the program, which may ask the person.
	keychainTime = 10 * time.Second
	// keychainPause is how long the keychain is not used after a failure, so that the
	// person is not asked for each request of an agent.
	keychainPause = time.Minute
	// maxLine is the most bytes of a command on the program's standard input. The
	// program reads up to 4095 bytes and takes the rest for another command.
	maxLine = 4000
)

// Exit codes of the program: the lowest eight bits of the system's error.
const (
	exitNotFound = 44  // errSecItemNotFound
	exitLocked   = 36  // errSecInteractionNotAllowed
	exitDenied   = 51  // errSecAuthFailed
	exitCanceled = 128 // userCanceledErr
)

// Keychain is a person's keychain on macOS, used through the program security. It is safe
// for concurrent use.
type Keychain struct {
	program string
	account string
	limit   time.Duration // of one run

	mu     sync.Mutex // held during a run, so that there is one at a time
	until  time.Time  // end of the pause after a failure
	failed error      // the failure
}

// NewKeychain returns the keychain that program reads and writes, with the items of an
// account. The program must take the arguments of /usr/bin/security.
func NewKeychain(program, account string) *Keychain {
	return &Keychain{program: program, account: account, limit: keychainTime}
}

// Host returns the environment of this machine, for the person with that home directory.
func Host(home string, getenv func(string) string) Environment {
	e := Environment{Home: home, Getenv: getenv}
	if runtime.GOOS != "darwin" {
		return e
	}
	account := getenv("USER")
	if account == "" {
		if u, err := user.Current(); err == nil {
			account = u.Username
		}
	}
	e.Keychain = NewKeychain(security, account)
	return e
}

// item is a store in the keychain.
type item struct {
	keychain *Keychain
	service  string
}

func (i item) place() string { return fmt.Sprintf("the keychain's item %q", i.service) }

// load returns the item's text. An item that is not a JSON object, such as an API key, is
// not a login.
func (i item) load() ([]byte, error) {
	if err := i.checkNames(); err != nil {
		return nil, err
	}
	out, err := i.keychain.run(nil, "find-generic-password", "-s", i.service, "-a", i.keychain.account, "-w")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", i.place(), err)
	}
	text := shown(out)
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, fmt.Errorf("read %s: the item is not a login: %w", i.place(), fs.ErrNotExist)
	}
	return text, nil
}

// shown decodes the program's output. The program prints a text in hex if it contains a
// character that is not printable ASCII.
func shown(out []byte) []byte {
	text := bytes.TrimSpace(out)
	if decoded, err := hex.DecodeString(string(text)); err == nil {
		text = bytes.TrimSpace(decoded)
	}
	return text
}

// replace stores a text. It passes the text on the program's standard input if it fits
// there, because other processes of this machine can see a program's arguments. The exit
// code says little about commands from standard input, so replace reads the item again.
func (i item) replace(text []byte) error {
	if err := i.checkNames(); err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return errors.New("the login is not the JSON that was expected")
	}
	want := line.Bytes()
	arguments := []string{"add-generic-password", "-U", "-a", i.keychain.account, "-s", i.service, "-X", hex.EncodeToString(want)}
	command := command(arguments)
	var err error
	if len(command) <= maxLine {
		_, err = i.keychain.run([]byte(command), "-i")
	} else {
		_, err = i.keychain.run(nil, arguments...)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", i.place(), err)
	}
	got, err := i.load()
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("write %s: afterwards the item has other content", i.place())
	}
	return err
}

// checkNames refuses names of the account or the service that a command cannot contain.
func (i item) checkNames() error {
	if i.keychain.account == "" || !plainText(i.keychain.account) || !plainText(i.service) {
		return errors.New("find the keychain's item: the user's name is empty or has characters that are not printable ASCII; set USER")
	}
	return nil
}

func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// command returns a line for the program's standard input: each argument in quotes, with
// quotes and backslashes escaped by a backslash.
func command(arguments []string) string {
	var b strings.Builder
	for n, argument := range arguments {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		for _, c := range []byte(argument) {
			if c == '"' || c == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
		b.WriteByte('"')
	}
	return b.String() + "\n"
}

// run runs the program and returns its output. It discards the program's error messages,
// because they can quote a command, and so the login.
func (k *Keychain) run(input []byte, arguments ...string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Now().Before(k.until) {
		return nil, k.failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), k.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.program, arguments...)
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(input)
	out := &bounded.Buffer{Most: maxText, Err: errors.New("the program printed too much")}
	cmd.Stdout = out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, k.pause("the keychain did not answer in time; unlock it with 'security unlock-keychain'")
	case out.Over():
		return nil, k.pause("the item is too large to be a login")
	case !errors.As(err, &exit):
		return nil, k.pause(k.program + " cannot be used: " + err.Error())
	}
	switch code := exit.ExitCode(); code {
	case exitNotFound:
		return nil, fmt.Errorf("there is no such item: %w", fs.ErrNotExist)
	case exitLocked:
		return nil, k.pause("the keychain is locked; unlock it with 'security unlock-keychain'")
	case exitDenied, exitCanceled:
		return nil, k.pause("the keychain refused access to " + k.program)
	default:
		return nil, k.pause(fmt.Sprintf("%s ended with status %d", k.program, code))
	}
}

// pause records a failure and starts the pause after it. The caller holds mu.
func (k *Keychain) pause(why string) error {
	k.until, k.failed = time.Now().Add(keychainPause), errors.New(why)
	return k.failed
}
