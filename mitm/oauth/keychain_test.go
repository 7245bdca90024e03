package oauth

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// keychainVariable names the directory of the keychain that this test's own program
// shows when it is run as the program security.
const keychainVariable = "OAUTH_TEST_KEYCHAIN"

// actAsSecurity is /usr/bin/security, as far as its manual page and its open source
// tell: the arguments, the exit codes, what it prints, and how it reads commands.
func actAsSecurity(dir string, arguments []string, in io.Reader, out io.Writer) int {
	log, err := os.OpenFile(filepath.Join(dir, "arguments"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 2
	}
	_, _ = fmt.Fprintln(log, strings.Join(arguments, " "))
	_ = log.Close()
	switch mood, _ := os.ReadFile(filepath.Join(dir, "mood")); string(mood) {
	case "locked":
		return 36
	case "denied":
		return 128
	case "dialog": // it asks the person, who is not there
		<-time.After(time.Hour)
	case "endless":
		for {
			if _, err := out.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return 1
			}
		}
	}
	if len(arguments) != 1 || arguments[0] != "-i" {
		return securityCommand(dir, arguments, out)
	}
	status := 0
	for r := bufio.NewReader(in); ; {
		var line []byte // of at most 4095 bytes, as fgets reads it
		for len(line) < 4095 && !bytes.HasSuffix(line, []byte("\n")) {
			b, err := r.ReadByte()
			if err != nil {
				break
			}
			line = append(line, b)
		}
		if len(line) == 0 {
			return status
		}
		if split := splitCommand(string(line)); len(split) > 0 {
			status = securityCommand(dir, split, out)
		}
	}
}

// splitCommand splits a line into arguments: white space separates them, quotes group,
// and a backslash escapes the next character.
func splitCommand(line string) []string {
	var all []string
	var word strings.Builder
	quote, escaped, open := byte(0), false, false
	for _, c := range []byte(line) {
		switch {
		case escaped:
			word.WriteByte(c)
			escaped = false
		case c == '\\':
			escaped, open = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open {
				all = append(all, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}

func securityCommand(dir string, arguments []string, out io.Writer) int {
	values, update, show := make(map[string]string), false, false
	for i := 1; i < len(arguments); i++ {
		switch a := arguments[i]; {
		case a == "-U":
			update = true
		case a == "-w" && arguments[0] == "find-generic-password":
			show = true
		case len(a) == 2 && a[0] == '-' && i+1 < len(arguments):
			i++
			values[a] = arguments[i]
		default:
			return 2
		}
	}
	path := filepath.Join(dir, hex.EncodeToString([]byte(values["-s"]+"\x00"+values["-a"])))
	switch arguments[0] {
	case "find-generic-password":
		text, err := os.ReadFile(path)
		if err != nil {
			return 44
		}
		if show && bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			_, _ = fmt.Fprintf(out, "%x\n", text)
		} else if show {
			_, _ = fmt.Fprintf(out, "%s\n", text)
		}
		return 0
	case "add-generic-password":
		if _, err := os.Stat(path); err == nil && !update {
			return 45
		}
		text, err := hex.DecodeString(values["-X"])
		if mood, _ := os.ReadFile(filepath.Join(dir, "mood")); string(mood) == "forgetful" {
			return 0
		}
		if err != nil || os.WriteFile(path, text, 0o600) != nil {
			return 2
		}
		return 0
	}
	return 2
}

// fakeKeychain is a keychain on this machine, and where it is kept.
type fakeKeychain struct {
	*Keychain
	t   *testing.T
	dir string
}

func newKeychain(t *testing.T, account string) *fakeKeychain {
	t.Helper()
	k := &fakeKeychain{t: t, dir: t.TempDir()}
	t.Setenv(keychainVariable, k.dir)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else each run of the program lasts a second when races are looked for
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k.Keychain = NewKeychain(program, account)
	k.limit = time.Minute // this machine may be busy
	return k
}

func (k *fakeKeychain) path(service string) string {
	return filepath.Join(k.dir, hex.EncodeToString([]byte(service+"\x00"+k.account)))
}

func (k *fakeKeychain) put(service, text string) {
	k.t.Helper()
	if err := os.WriteFile(k.path(service), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *fakeKeychain) get(service string) string {
	k.t.Helper()
	text, err := os.ReadFile(k.path(service))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// mood makes the program behave in another way, and forgets how it behaved.
func (k *fakeKeychain) mood(mood string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, "mood"), []byte(mood), 0o600); err != nil {
		k.t.Fatal(err)
	}
	k.mu.Lock()
	k.until = time.Time{}
	k.mu.Unlock()
}

// runs is how the program was run, one line each.
func (k *fakeKeychain) runs() []string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "arguments"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

const claudeItem = "Claude Code-credentials"

// login is a text as Claude Code keeps it, with room for something else.
func login(access, refresh string, expires time.Time, more string) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"subscriptionType":"max"},"mcpOAuth":{"kept":%q}}`,
		access, refresh, expires.UnixMilli(), more)
}

func TestKeychainLoginIsRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		programs      int // that use the login
		account, more string
		arguments     bool // the login is passed in them, because it is too long for a line
	}{
		"plain":               {3, "somebody", "x", false},
		"an account to quote": {1, `Some "Body" \ O'Neil`, "x", false},
		"not ASCII":           {1, "somebody", "für später", false},
		"quotes and newlines": {1, "somebody", "\"a\"\nb\\", false},
		"long":                {1, "somebody", strings.Repeat("y", 1500), false},
		"too long":            {1, "somebody", strings.Repeat("z", 4000), true},
	} {
		t.Run(name, func(t *testing.T) {
			k, svc := newKeychain(t, c.account), newService(t, "refresh-0")
			k.put(claudeItem, login("access-0", "refresh-0", time.Now().Add(-time.Minute), c.more))
			home := t.TempDir() // without ~/.claude
			src, err := Find("anthropic", Environment{Home: home, Getenv: func(string) string { return "" }, Keychain: k.Keychain}, time.Now())
			if err != nil || src.Place() != `the keychain's item "Claude Code-credentials"` {
				t.Fatalf("%v, %v", src, err)
			}
			var wg sync.WaitGroup
			for range c.programs {
				m := svc.manager(src)
				wg.Go(func() {
					if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" {
						t.Errorf("%q, %v", got.Access, err)
					}
				})
			}
			wg.Wait()
			if n := svc.asked(); n != 1 {
				t.Errorf("the service was asked %d times", n)
			}
			var got struct {
				Login map[string]any    `json:"claudeAiOauth"`
				Other map[string]string `json:"mcpOAuth"`
			}
			if err := json.Unmarshal([]byte(k.get(claudeItem)), &got); err != nil {
				t.Fatal(err)
			}
			if got.Login["accessToken"] != "access-1" || got.Login["refreshToken"] != "refresh-1" || got.Login["subscriptionType"] != "max" || got.Other["kept"] != c.more {
				t.Errorf("the item holds %s", k.get(claudeItem))
			}
			for _, run := range k.runs() {
				if secret := strings.Contains(run, hex.EncodeToString([]byte("refresh-1"))); secret && !c.arguments || strings.Contains(run, "refresh-1") {
					t.Errorf("another process could see %.200q", run)
				}
			}
			if _, err := os.Stat(filepath.Join(home, ".claude.lock")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a lock is left: %v", err)
			}
		})
	}
}

func TestFindInTheKeychain(t *testing.T) {
	k, home := newKeychain(t, "somebody"), t.TempDir()
	env := Environment{Home: home, Getenv: func(string) string { return "" }, Keychain: k.Keychain}
	later := time.Now().Add(time.Hour)
	find := func(want string) {
		t.Helper()
		src, err := Find("anthropic", env, time.Now())
		if err != nil || src.Place() != want {
			t.Errorf("%v, %v; want %s", src, err, want)
		}
	}
	var missing *LoginError
	if _, err := Find("anthropic", env, time.Now()); !errors.As(err, &missing) || missing.Cause != "there is no login on this machine" {
		t.Errorf("nothing there: %v", err)
	}
	k.put("Claude Code", "sk-ant-api03-a-key-of-the-console")
	if _, err := Find("anthropic", env, time.Now()); !errors.As(err, &missing) || missing.Cause != "there is no login on this machine" {
		t.Errorf("a key in the item: %v", err)
	}
	k.put("Claude Code", login("a", "r", later, ""))
	find(`the keychain's item "Claude Code"`)
	k.put(claudeItem, login("a", "r", later, ""))
	find(`the keychain's item "Claude Code-credentials"`)
	path := filepath.Join(home, ".claude", ".credentials.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(login("a", "", time.Now().Add(-time.Hour), "")), 0o600)); err != nil {
		t.Fatal(err)
	}
	find(`the keychain's item "Claude Code-credentials"`) // the file's has expired
	if err := os.WriteFile(path, []byte(login("a", "r", later, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	find(path)
}

// The error of a keychain that refuses does not quote the program's output, and the
// keychain is not used again for a while.
func TestKeychainThatRefuses(t *testing.T) {
	for mood, want := range map[string]string{
		"locked":  "security unlock-keychain",
		"denied":  "refused access to",
		"dialog":  "did not answer in time",
		"endless": "too large to be a login",
	} {
		t.Run(mood, func(t *testing.T) {
			k := newKeychain(t, "somebody")
			if mood == "dialog" {
				k.limit = 50 * time.Millisecond
			}
			k.put(claudeItem, login("access-0", "refresh-0", time.Now().Add(time.Hour), ""))
			k.mood(mood)
			src := claudeKeychain(t.TempDir(), k.Keychain, claudeItem)
			_, first := src.Read()
			if first == nil || !strings.Contains(first.Error(), want) || strings.Contains(first.Error(), "-0") {
				t.Fatalf("%v", first)
			}
			if _, err := src.Read(); err == nil || err.Error() != first.Error() || len(k.runs()) != 1 {
				t.Errorf("asked again: %v, %q", err, k.runs())
			}
			k.mood("")
			k.limit = time.Minute
			if got, err := src.Read(); err != nil || got.Access != "access-0" {
				t.Errorf("afterwards: %q, %v", got.Access, err)
			}
		})
	}
}

// A login that the keychain did not store is used anyway, and stored later.
func TestKeychainThatForgets(t *testing.T) {
	k, svc := newKeychain(t, "somebody"), newService(t, "refresh-0")
	k.put(claudeItem, login("access-0", "refresh-0", time.Now().Add(-time.Minute), ""))
	k.mood("forgetful")
	m := svc.manager(claudeKeychain(t.TempDir(), k.Keychain, claudeItem))
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" || !strings.Contains(k.get(claudeItem), "access-0") {
		t.Fatalf("%q, %v", got.Access, err)
	}
	k.mood("")
	if got, err := m.Token(t.Context()); err != nil || got.Access != "access-1" || !strings.Contains(k.get(claudeItem), "access-1") {
		t.Errorf("%q, %v; the item holds %s", got.Access, err, k.get(claudeItem))
	}
}

// A name that no command can contain is refused before anything is read, so that no
// login is renewed that could not be stored.
func TestAccountsThatCannotBeNamed(t *testing.T) {
	for _, account := range []string{"", "a\nadd-generic-password", "a\x00b", "jürgen"} {
		t.Run(account, func(t *testing.T) {
			k := newKeychain(t, account)
			src := claudeKeychain(t.TempDir(), k.Keychain, claudeItem)
			if _, err := src.Read(); err == nil || !strings.Contains(err.Error(), "find the keychain's item") {
				t.Errorf("%q: %v", account, err)
			}
			if runs := k.runs(); runs[0] != "" {
				t.Errorf("%q: ran %q", account, runs)
			}
		})
	}
}

func FuzzCommand(f *testing.F) {
	f.Add(`a b`, `"`)
	f.Add(`\`, ` '`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !plainText(a) || !plainText(b) {
			return // command is never given anything else
		}
		line := command([]string{"x", a, b})
		got := splitCommand(line)
		if strings.Count(line, "\n") != 1 || len(got) != 3 || got[1] != a || got[2] != b {
			t.Errorf("%q and %q became %q, read as %q", a, b, line, got)
		}
	})
}
