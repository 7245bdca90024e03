package npm

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// key is one of the keys with which a registry signs versions.
type key struct {
	public  *ecdsa.PublicKey
	expires time.Time // zero if never
}

// fetchKeys gets the keys of a registry by their identifiers. If it publishes none, there are none:
// a mirror may pass on signatures without knowing the keys.
func fetchKeys(ctx context.Context, f registry.Fetcher, o *registry.Origin) (map[string]key, error) {
	doc, err := f.Document(ctx, o, keysPath, "application/json")
	if errors.Is(err, registry.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys := make(map[string]key)
	err = jsonx.Walk(doc.Data, func(name string, raw []byte, _ int) error {
		if name != "keys" {
			return nil
		}
		return jsonx.WalkArray(raw, func(raw []byte, _ int) error {
			id, k, err := readKey(raw)
			if k.public != nil {
				keys[id] = k
			}
			return err
		})
	})
	if err != nil {
		return nil, broken("its keys cannot be read: " + err.Error())
	}
	return keys, nil
}

// readKey reads one key. The public part is nil if the kind of key is unknown.
func readKey(raw []byte) (id string, k key, err error) {
	wrong := readTexts(raw, func(name, text string) {
		switch name {
		case "keyid":
			id = text
		case "expires":
			k.expires, err = time.Parse(time.RFC3339, text)
		case "key":
			der, _ := base64.StdEncoding.DecodeString(text)
			public, _ := x509.ParsePKIXPublicKey(der)
			k.public, _ = public.(*ecdsa.PublicKey)
		}
	})
	return id, k, errors.Join(wrong, err)
}

// signed is the text that a registry's signatures of a version cover: the name, the version and the
// text of the digests.
type signed struct {
	integrity  string
	signatures []byte // an array; nil when there are none
	unread     bool   // a digest cannot be read
}

// checkSignatures verifies the signatures of a version with the keys of its registry. A version
// without signatures passes, and so does one of a registry that publishes no keys.
func (d *document) checkSignatures(name string, v *registry.Version) error {
	proof, is := d.signed[v.Version]
	if !is || len(d.keys) == 0 {
		return nil
	}
	at := v.Published
	if at.IsZero() {
		at = time.Now() // a version without a time may have been signed just now
	}
	count, good := 0, 0
	sum := sha256.Sum256([]byte(name + "@" + v.Version + ":" + proof.integrity))
	err := jsonx.WalkArray(proof.signatures, func(raw []byte, _ int) error {
		count++
		var id string
		var signature []byte
		if err := readTexts(raw, func(name, text string) {
			switch name {
			case "keyid":
				id = text
			case "sig":
				signature, _ = base64.StdEncoding.DecodeString(text)
			}
		}); err != nil {
			return err
		}
		k, known := d.keys[id]
		switch {
		case !known:
			return nil
		case !k.expires.IsZero() && !at.Before(k.expires):
			return errors.New("it was published after its registry's signing key had expired")
		case !ecdsa.VerifyASN1(k.public, sum[:], signature):
			return errors.New("its registry's signature is wrong")
		}
		good++
		return nil
	})
	if err == nil && count > 0 && good == 0 {
		err = errors.New("it is signed with a key that its registry does not publish")
	}
	return err
}
