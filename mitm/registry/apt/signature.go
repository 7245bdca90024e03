package apt

import (
	"bytes"
	"crypto"
	"io"
	"os"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxKeyring bounds a keyring's file, in bytes.
const maxKeyring = 8 << 20

// keyring reads the keys in keyring files, each in binary or in text.
func keyring(paths []string) (openpgp.EntityList, error) {
	var all openpgp.EntityList
	for _, path := range paths {
		keys, err := readKeyring(path)
		if err != nil {
			// The agent does not need to know its path.
			return nil, registry.Refuse(403, registry.ReasonUpstream,
				"a keyring of this repository cannot be read: the person has to install it or to correct its path in config.json")
		}
		all = append(all, keys...)
	}
	if len(all) == 0 {
		return nil, registry.Refuse(403, registry.ReasonUpstream,
			"no keyring of this repository is known: the person has to run registry learn, or to name one in config.json")
	}
	return all, nil
}

func readKeyring(path string) (openpgp.EntityList, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKeyring+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxKeyring {
		return nil, errTooLarge
	}
	return parseKeyring(data)
}

const keyEnd = "-----END PGP PUBLIC KEY BLOCK-----"

// parseKeyring reads keys in binary, or any number of blocks of text.
func parseKeyring(data []byte) (openpgp.EntityList, error) {
	if !bytes.Contains(data, []byte(keyEnd)) {
		return openpgp.ReadKeyRing(bytes.NewReader(data))
	}
	var all openpgp.EntityList
	for block := range strings.SplitAfterSeq(string(data), keyEnd) {
		if !strings.Contains(block, keyEnd) {
			break
		}
		keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(block + "\n"))
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
	}
	return all, nil
}

// openSigned returns the signed text of an InRelease. There must be no text outside it.
func openSigned(data []byte, keys openpgp.EntityList, config *packet.Config) ([]byte, bool) {
	if !bytes.HasPrefix(data, []byte("-----BEGIN PGP SIGNED MESSAGE-----\n")) {
		return nil, false
	}
	block, rest := clearsign.Decode(data)
	if block == nil || len(bytes.TrimSpace(rest)) > 0 || block.ArmoredSignature.Type != openpgp.SignatureType {
		return nil, false
	}
	if !signed(block.Bytes, block.ArmoredSignature.Body, keys, config) {
		return nil, false
	}
	return block.Plaintext, true
}

// openDetached reports whether a Release.gpg is a valid signature of a Release.
func openDetached(text, signature []byte, keys openpgp.EntityList, config *packet.Config) bool {
	block, err := armor.Decode(bytes.NewReader(signature))
	if err != nil || block.Type != openpgp.SignatureType {
		return false
	}
	return signed(text, block.Body, keys, config)
}

// maxSignatures bounds the signatures of one Release.
const maxSignatures = 32

// signed reports whether one of the signatures is by one of the keys. Signatures by other keys are
// ignored, because repositories also sign with future and old keys.
func signed(text []byte, signatures io.Reader, keys openpgp.EntityList, config *packet.Config) bool {
	strong := []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512}
	packets := packet.NewOpaqueReader(signatures)
	for range maxSignatures {
		one, err := packets.Next()
		if err != nil {
			return false
		}
		var raw bytes.Buffer
		if err := one.Serialize(&raw); err != nil {
			return false
		}
		if _, err := openpgp.CheckDetachedSignatureAndHash(keys, bytes.NewReader(text), &raw, strong, config); err == nil {
			return true
		}
	}
	return false
}
