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

// journal notes, in a file of its own, which renewal of a login is under way.
//
// Between the moment in which the token service gives out a new refresh token and
// the one in which it is stored, the login hangs on this process alone. When the
// process is killed then, or the answer is lost, nothing brings the token back. What
// the journal brings is that the next attempt knows why the service refuses the old
// one, and says so. It never holds a token. Without a path it notes nothing.
type journal struct{ path string }

// underWay is the content of the file.
type underWay struct {
	Login string    `json:"login"` // for people: the source's name
	By    string    `json:"by"`    // SHA-256 of the refresh token that is exchanged, in hex
	Begun time.Time `json:"begun"`
}

// journalOf is the journal of a source in a directory; empty for none.
func journalOf(dir string, s *Source) journal {
	if dir == "" {
		return journal{}
	}
	return journal{filepath.Join(dir, "renewal-"+digest(s.Place())[:16]+".json")}
}

// begin notes a renewal. An error harms nothing but the words of a later refusal.
func (j journal) begin(s *Source, refresh string, now time.Time) {
	if j.path == "" {
		return
	}
	data, err := json.Marshal(underWay{Login: s.Name, By: digest(refresh), Begun: now.UTC()})
	if err == nil && os.MkdirAll(filepath.Dir(j.path), 0o700) == nil {
		_ = wholefile.Write(j.path, append(data, '\n'), 0o600)
	}
}

// end notes that what became of the renewal is known, and stored.
func (j journal) end() {
	if j.path != "" {
		_ = os.Remove(j.path)
	}
}

// cutOff reports when a renewal by this refresh token was begun of which nobody
// knows what became.
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
