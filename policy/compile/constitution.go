package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxConstitution bounds a constitution, in bytes.
const MaxConstitution = 64 << 10

// Constitution is the text in which a person says what agents may do.
type Constitution struct {
	Text string
	Hash string // SHA-256 of the text, in hexadecimal
}

// ReadConstitution reads a constitution from a file. The file must be plain text, not
// empty, and not larger than MaxConstitution.
func ReadConstitution(file string) (Constitution, error) {
	f, err := os.Open(file)
	if err != nil {
		return Constitution{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Constitution{}, errors.Join(err, fmt.Errorf("%s is not a regular file", file))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxConstitution+1))
	if err != nil {
		return Constitution{}, err
	}
	c, err := ParseConstitution(data)
	if err != nil {
		return Constitution{}, fmt.Errorf("%s %w", file, err)
	}
	return c, nil
}

// ParseConstitution is ReadConstitution for bytes.
func ParseConstitution(data []byte) (Constitution, error) {
	text := string(data)
	control := func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r' }
	switch {
	case len(data) > MaxConstitution:
		return Constitution{}, fmt.Errorf("is larger than %d bytes", MaxConstitution)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, control):
		return Constitution{}, errors.New("is not plain text")
	case strings.TrimSpace(text) == "":
		return Constitution{}, errors.New("is empty")
	}
	return Constitution{Text: text, Hash: hash(text)}, nil
}

// hash is the SHA-256 of the parts. If there are several, each is preceded by its length,
// so that moving bytes from one part to the next changes the hash.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		if len(parts) > 1 {
			fmt.Fprintf(h, "%d:", len(p))
		}
		_, _ = io.WriteString(h, p) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
