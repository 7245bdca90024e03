package apt

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// What a key signs counts as long as it may sign.
func TestKeysThatMayNotSign(t *testing.T) {
	now := time.Now()
	at := func(when time.Time) *packet.Config {
		return &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return when }}
	}
	for name, c := range map[string]struct {
		lifetime, signatureLifetime uint32 // in seconds
		made, signed                time.Duration
		revoke                      bool
		ok                          bool
	}{
		"a good one":               {ok: true, made: -time.Hour, signed: -time.Minute},
		"expired":                  {lifetime: 60, made: -time.Hour, signed: -time.Hour},
		"expired since it signed":  {lifetime: 60, made: -time.Hour, signed: -time.Hour + 30*time.Second},
		"a signature that expired": {signatureLifetime: 60, made: -time.Hour, signed: -time.Hour},
		"signed in the future":     {made: -time.Hour, signed: 48 * time.Hour},
		"made after it signed":     {made: time.Hour, signed: -time.Hour},
		"revoked":                  {revoke: true, made: -time.Hour, signed: -time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			config := at(now.Add(c.made))
			config.KeyLifetimeSecs = c.lifetime
			key, err := openpgp.NewEntity("forged", "", "forged@repo.example", config)
			if err != nil {
				t.Fatal(err)
			}
			if c.revoke {
				if err := key.RevokeKey(packet.KeyCompromised, "", at(now)); err != nil {
					t.Fatal(err)
				}
			}
			sign := at(now.Add(c.signed))
			sign.SigLifetimeSecs = c.signatureLifetime
			var out bytes.Buffer
			w, err := clearsign.Encode(&out, key.PrivateKey, sign)
			if err == nil {
				_, err = io.WriteString(w, "Suite: stable\n")
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := openSigned(append(out.Bytes(), '\n'), openpgp.EntityList{key}, at(now)); ok != c.ok {
				t.Errorf("accepted: %v", ok)
			}
		})
	}
}

// What is no part of the signed text is nowhere in the file.
func TestTextOutsideTheSignedOne(t *testing.T) {
	f := newForge(t)
	f.Sign(t, "stable", "Suite: stable\n")
	good := f.Get("dists/stable/InRelease")
	keys := openpgp.EntityList{f.Key}
	const begin, armor, end = "-----BEGIN PGP SIGNED MESSAGE-----\n", "-----BEGIN PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----"
	for name, data := range map[string][]byte{
		"before":             append([]byte("\n"), good...),
		"in the head":        bytes.Replace(good, []byte(begin), []byte(begin+"Suite: other\n"), 1),
		"in the head, hash":  bytes.Replace(good, []byte(begin), []byte(begin+"Hash: SHA512\nSuite: other\n\n"), 1),
		"blanks in the head": bytes.Replace(good, []byte(begin), []byte(begin+" \nSuite: other\n\n"), 1),
		"twice begun":        bytes.Replace(good, []byte(begin), []byte(begin+"\n"+begin), 1),
		"before the armor":   bytes.Replace(good, []byte(armor), []byte("Suite: other\n"+armor), 1),
		"two armors":         bytes.Replace(good, []byte(armor), []byte(armor+"\n"+end+"\nSuite: other\n"+armor), 1),
		"behind the end":     bytes.Replace(good, []byte(end), []byte(end+" Suite: other"), 1),
		"blanks at the line": bytes.Replace(good, []byte(begin), []byte("-----BEGIN PGP SIGNED MESSAGE-----  \n"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(data, good) {
				t.Fatal("nothing is changed")
			}
			if text, ok := openSigned(data, keys, nil); ok {
				t.Errorf("accepted: %q as %q", data, text)
			}
		})
	}
}
