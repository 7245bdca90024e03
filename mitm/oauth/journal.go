package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// journal records in a file which renewal of a login is under way.
//
// After the token service has issued a new refresh token and before that is stored, only
// this process has the login. If the process is killed then, or the answer is lost, the
// login is lost. With the journal, the next attempt can at least say why the service
// refuses the old token. The journal never contains a token. Without a path it records
// nothing.
type journal struct{ path string }

// underWay is the content of the file.
type underWay struct {
	Login string    `json:"login"` // for people: the source's name
	By    string    `json:"by"`    // SHA-256 of the exchanged refresh token, in hex
	Begun time.Time `json:"begun"`
}

// journalOf returns the journal of a source in a directory; an empty directory means
// none.
func journalOf(dir string, s *Source) journal {
	if dir == "" {
		return journal{}
	}
	return journal{filepath.Join(dir, "renewal-"+digest(s.Place())[:16]+".json")}
}

// begin records that a renewal begins. It ignores errors, because the journal only makes
// a later message clearer.
func (j journal) begin(s *Source, refresh string, now time.Time) {
	if j.path == "" {
		return
	}
	data, err := json.Marshal(underWay{Login: s.Name, By: digest(refresh), Begun: now.UTC()})
	if err == nil && os.MkdirAll(filepath.Dir(j.path), 0o700) == nil {
		_ = wholefile.Write(j.path, append(data, '\n'), 0o600)
	}
}

// end records that the result of the renewal is known and stored.
func (j journal) end() {
	if j.path != "" {
		_ = os.Remove(j.path)
	}
}

// cutOff returns when a renewal with this refresh token began whose result is not known.
func (j journal) cutOff(refresh string) (begun time.Time, ok bool) {
	if j.path == "" {
		return time.Time{}, false
	}
	data, err := os.ReadFile(j.path)
	var u underWay
	if err != nil || json.Unmarshal(data, &u) != nil || u.By != digest(refresh) {
		return time.Time{}, false
	}
	return u.Begun, true
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
