package apt

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// What gpg signs is verified, with a keyring in binary and in text.
func TestSignaturesOfGPG(t *testing.T) {
	home, err := os.MkdirTemp("", "gpg") // short: gpg-agent has a socket in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	gpg := func(stdin string, args ...string) []byte {
		t.Helper()
		return run(t, []byte(stdin), "gpg", append([]string{"--homedir", home, "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"}, args...)...)
	}
	defer run(t, nil, "gpgconf", "--homedir", home, "--kill", "all")
	gpg("", "--quick-generate-key", "gpg@repo.example", "rsa3072", "sign", "never")
	gpg("", "--quick-generate-key", "second@repo.example", "ed25519", "sign", "never")
	const text = "Suite: stable\n- a line with a dash\nand blanks  \n"
	inline := gpg(text, "--clearsign", "-u", "second@repo.example", "-u", "gpg@repo.example")
	detached := gpg(text, "--armor", "--detach-sign", "-u", "gpg@repo.example")
	weak := gpg(text, "--clearsign", "-u", "gpg@repo.example", "--digest-algo", "SHA1")
	for name, exported := range map[string][]byte{
		"binary": gpg("", "--export", "gpg@repo.example"),
		"text":   gpg("", "--armor", "--export", "gpg@repo.example"),
		"blocks": append(gpg("", "--armor", "--export", "second@repo.example"), gpg("", "--armor", "--export", "gpg@repo.example")...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keyring")
			if err := os.WriteFile(path, exported, 0o600); err != nil {
				t.Fatal(err)
			}
			keys, err := keyring([]string{path})
			if err != nil {
				t.Fatal(err)
			}
			if signed, ok := openSigned(inline, keys, nil); !ok || !bytes.Contains(signed, []byte("- a line with a dash\n")) {
				t.Errorf("the signed text is %q, %v", signed, ok)
			}
			if !openDetached([]byte(text), detached, keys, nil) {
				t.Error("a detached signature is refused")
			}
			if openDetached([]byte(text+"x"), detached, keys, nil) {
				t.Error("a detached signature is accepted for another text")
			}
			if _, ok := openSigned(weak, keys, nil); ok {
				t.Error("a signature of a SHA-1 hash is accepted")
			}
			others, err := keyring([]string{forged.Keyring(t, forged.NewAptKey(t))})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := openSigned(inline, others, nil); ok {
				t.Error("a signature by another key is accepted")
			}
			for _, spoiled := range [][]byte{
				append([]byte("Suite: other\n"), inline...),
				append(bytes.Clone(inline), "Suite: other\n"...),
				bytes.Replace(inline, []byte("stable"), []byte("Stable"), 1),
				append(bytes.Clone(inline), inline...),
				inline[:len(inline)/2],
				nil,
			} {
				if _, ok := openSigned(spoiled, keys, nil); ok {
					t.Errorf("accepted: %q", spoiled)
				}
			}
		})
	}
}

func TestKeyringsThatCannotBeRead(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nnonsense\n-----END PGP PUBLIC KEY BLOCK-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := forged.Keyring(t, forged.NewAptKey(t))
	for name, paths := range map[string][]string{"none": nil, "missing": {good, filepath.Join(t.TempDir(), "missing")}, "broken": {good, broken}} {
		t.Run(name, func(t *testing.T) {
			if keys, err := keyring(paths); err == nil {
				t.Errorf("has %d keys", len(keys))
			} else {
				registrytest.Refusal(t, err)
			}
		})
	}
}

func FuzzSigned(f *testing.F) {
	repository := newForge(f)
	repository.Sign(f, "stable", "Suite: stable\n")
	f.Add(repository.Get("dists/stable/InRelease"))
	keys := openpgp.EntityList{repository.Key}
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, ok := openSigned(data, keys, nil); ok && string(bytes.TrimSpace(text)) != "Suite: stable" {
			t.Errorf("takes %q for signed", text)
		}
	})
}

func FuzzKeyring(f *testing.F) {
	data, err := os.ReadFile(forged.Keyring(f, forged.NewAptKey(f)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZ\n=abcd\n" + keyEnd + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if keys, err := parseKeyring(data); err != nil && len(keys) > 0 {
			t.Errorf("%d keys in spite of %v", len(keys), err)
		}
	})
}
