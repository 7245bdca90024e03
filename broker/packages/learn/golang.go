package learn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goEnv is the output of "go env -json".
type goEnv struct{ GOPROXY, GOSUMDB, GOPRIVATE, GONOPROXY, GOROOT string }

func (h Host) goEnv(ctx context.Context, program string) (goEnv, error) {
	var env goEnv
	out, err := h.ask(ctx, "", nil, program, "env", "-json", "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GOROOT")
	if err == nil {
		err = json.Unmarshal([]byte(out), &env)
	}
	return env, err
}

// golang asks go for its module proxies, the checksum database and the private modules.
func (a *asker) golang(ctx context.Context) {
	program := a.find("go")
	if program == "" {
		return
	}
	env, err := a.goEnv(ctx, program)
	if err != nil {
		a.note("%v", err)
		return
	}
	keys := a.sumKeys(env)
	proxies := goProxies(env.GOPROXY)
	for _, raw := range proxies {
		address, login, err := base(raw)
		if err != nil {
			a.note("go env GOPROXY: %v", err)
			continue
		}
		s := Source{Ecosystem: Go, URL: address, From: "go env GOPROXY", Keys: keys}
		switch {
		case login != nil:
			s.Credential = "go"
		case a.netrc(address) != "":
			s.Credential = "netrc"
		}
		a.add(s)
	}
	if len(proxies) == 0 {
		a.note("go env GOPROXY names no module proxy")
	}
	if names := privateModules(env); len(names) > 0 {
		a.add(Source{Ecosystem: Go, From: "go env GOPRIVATE", Scopes: names, Private: true})
	}
}

// privateModules returns the patterns of modules that no proxy is asked for: those in GOPRIVATE and
// in GONOPROXY, whose default is GOPRIVATE.
func privateModules(env goEnv) []string {
	names := list(env.GOPRIVATE)
	for _, name := range list(env.GONOPROXY) {
		if name != "none" && !slices.Contains(names, name) { // "none" means no module
			names = append(names, name)
		}
	}
	return names
}

// goProxies returns the addresses in GOPROXY, also those that are only asked after an error of
// another one. "direct" and "off" are not proxies.
func goProxies(value string) []string {
	var all []string
	for _, entry := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '|' }) {
		if entry = strings.TrimSpace(entry); entry != "" && entry != "direct" && entry != "off" {
			all = append(all, entry)
		}
	}
	return all
}

// verifierKey matches a key as golang.org/x/mod/sumdb/note writes it: a name, a hash, a key.
var verifierKey = regexp.MustCompile(`^[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$`)

// isVerifierKey reports whether a text is a verifier key whose hash matches its name and key.
func isVerifierKey(s string) bool {
	if !verifierKey.MatchString(s) {
		return false
	}
	parts := strings.SplitN(s, "+", 3)
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	return hex.EncodeToString(sum[:4]) == parts[1]
}

// sumKeys returns the verifier key of the checksum database: the one in GOSUMDB, or else the one
// that the Go installation has for the name in GOSUMDB. It returns nil if the database is off.
func (a *asker) sumKeys(env goEnv) []string {
	fields := strings.Fields(env.GOSUMDB)
	if len(fields) == 0 || fields[0] == "off" {
		a.note("go env GOSUMDB names no checksum database")
		return nil
	}
	if len(fields) > 1 {
		a.note("go env GOSUMDB names an address, which is not used: the database is reached only through the module proxy")
	}
	if isVerifierKey(fields[0]) {
		return fields[:1]
	}
	for _, file := range []string{"src/cmd/go/internal/modfetch/key.go", "bin/go"} {
		if key := keyOf(filepath.Join(env.GOROOT, file), fields[0]); key != "" {
			return []string{key}
		}
	}
	a.note("the Go installation has no key of the checksum database %s", fields[0])
	return nil
}

// maxProgram bounds the search in the go command, in bytes.
const maxProgram = 256 << 20

// keyOf finds the verifier key of a database in a file of the Go installation: a source file or the
// go command itself.
func keyOf(path, name string) string {
	if strings.ContainsAny(name, "+\n") {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	key := regexp.MustCompile(regexp.QuoteMeta(name) + `\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}`)
	const overlap = 1 << 10
	window := make([]byte, 0, 1<<20)
	for read := 0; read < maxProgram; {
		n, err := io.ReadFull(f, window[len(window):cap(window)])
		window, read = window[:len(window)+n], read+n
		if at := bytes.Index(window, []byte(name+"+")); at >= 0 {
			if found := key.Find(window[at:]); found != nil && isVerifierKey(string(found)) {
				return string(found)
			}
		}
		if err != nil || n == 0 {
			return ""
		}
		window = append(window[:0], window[max(0, len(window)-overlap):]...)
	}
	return ""
}
