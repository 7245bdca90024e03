package mitm

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// SentinelAccount is the stand-in for the name of a login's account. The proxy replaces
// it by the real name in requests, and the real name by it in answers.
const SentinelAccount = "ironcurtain-account"

// AccountName returns the name of an account that the agent gets: SentinelAccount, or the
// real name if that is too short to be distinguished from other text.
func AccountName(account string) string {
	if len(account) < minSecret {
		return account
	}
	return SentinelAccount
}

// sentinel is a fake credential in the format of a real one. Only this session's proxy
// accepts it.
type sentinel struct {
	value  string
	digest [sha256.Size]byte
}

// jwtHead is the header and payload of an unsigned token, for clients that decode their
// token. It does not expire before 2100.
var jwtHead = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." +
	base64.RawURLEncoding.EncodeToString([]byte(`{"exp":4102444800,"iss":"ironcurtain","sub":"codex-fake"}`)) + "."

// sentinelHead returns the prefix of the sentinels of a mode.
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
	_, _ = rand.Read(random) // documented never to fail
	return sentinelOf(prefix + base64.RawURLEncoding.EncodeToString(random))
}

// sentinelOf returns the sentinel with this value.
func sentinelOf(value string) sentinel {
	return sentinel{value: value, digest: sha256.Sum256([]byte(value))}
}

// equals compares in constant time.
func (s sentinel) equals(presented string) bool {
	digest := sha256.Sum256([]byte(presented))
	return subtle.ConstantTimeCompare(digest[:], s.digest[:]) == 1
}
