package mitm

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// SentinelAccount is the name under which an agent knows the account of a login,
// where it needs one. The account's own name takes its place on the way to the
// provider, and the other way round on the way back.
const SentinelAccount = "ironcurtain-account"

// AccountName is the name under which an agent knows an account: a name too short
// to be told from other text stays what it is.
func AccountName(account string) string {
	if len(account) < minSecret {
		return account
	}
	return SentinelAccount
}

// sentinel is a credential that looks real and is worth nothing: it opens this
// session's proxy and no other door.
type sentinel struct {
	value  string
	digest [sha256.Size]byte
}

// jwtHead is an unsigned token's header and payload, as clients that look
// into their token want to see it; it does not expire before 2100.
var jwtHead = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." +
	base64.RawURLEncoding.EncodeToString([]byte(`{"exp":4102444800,"iss":"ironcurtain","sub":"codex-fake"}`)) + "."

// sentinelHead is what the sentinels of a mode begin with.
func sentinelHead(m Mode) string {
	if m.Sentinel == "jwt" {
		return jwtHead
	}
	return m.Sentinel
}

// newSentinel makes a sentinel with 192 random bits.
func newSentinel(m Mode) sentinel {
	prefix := sentinelHead(m)
	random := make([]byte, 24)
	_, _ = rand.Read(random) // never fails, says crypto/rand
	return sentinelOf(prefix + base64.RawURLEncoding.EncodeToString(random))
}

// sentinelOf is the sentinel with that value.
func sentinelOf(value string) sentinel {
	return sentinel{value: value, digest: sha256.Sum256([]byte(value))}
}

// equals compares in a time that does not depend on where the values differ.
func (s sentinel) equals(presented string) bool {
	digest := sha256.Sum256([]byte(presented))
	return subtle.ConstantTimeCompare(digest[:], s.digest[:]) == 1
}
