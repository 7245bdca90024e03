package apt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// What xz makes is read, whatever its settings are, but for a dictionary that needs much
// memory and streams one after the other.
func TestXZ(t *testing.T) {
	text := bytes.Repeat([]byte("some text that can be compressed\n"), 20_000)
	for name, test := range map[string]struct {
		args []string
		ok   bool
	}{
		"fast":       {[]string{"-0"}, true},
		"good":       {[]string{"-9"}, true},
		"blocks":     {[]string{"-6", "--block-size=100000"}, true},
		"threads":    {[]string{"-6", "-T2", "--block-size=65536"}, true},
		"no check":   {[]string{"--check=none"}, true},
		"SHA-256":    {[]string{"--check=sha256"}, true},
		"128 MiB":    {[]string{"--lzma2=preset=6,dict=128MiB"}, false},
		"1.5 GiB":    {[]string{"--lzma2=preset=0,dict=1536MiB"}, false},
		"for x86":    {[]string{"--x86", "--lzma2=preset=6"}, false},
		"other lzma": {[]string{"--format=lzma"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			data := compressed(t, text, "xz", test.args...)
			got, err := unpack(".xz", data, int64(len(text)))
			if test.ok != (err == nil) || test.ok && !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if _, err := unpack(".xz", append(bytes.Clone(data), data...), 1<<30); err == nil {
				t.Error("two streams are read")
			}
			if _, err := unpack(".xz", data, int64(len(text)-1)); err == nil {
				t.Error("more is read than is allowed")
			}
		})
	}
}

func unpack(end string, data []byte, limit int64) ([]byte, error) {
	r, err := decompress(end, bytes.NewReader(data), int64(len(data)), limit)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func FuzzXZ(f *testing.F) {
	f.Add(compressed(f, []byte("some text"), "xz"))
	f.Add(compressed(f, bytes.Repeat([]byte("some text"), 1000), "xz", "--block-size=1000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := unpack(".xz", data, 1<<20)
		if err != nil {
			return
		}
		r, err := xz.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("the library refuses it: %v", err)
		}
		if all, err := io.ReadAll(r); err != nil || !bytes.Equal(all, got) {
			t.Errorf("the library reads %q, %v, and not %q", all, err, got)
		}
	})
}

func TestParseIndex(t *testing.T) {
	sum := file{}
	if !sum.hash(someHash) {
		t.Fatal("no hash")
	}
	hello := file{name: "hello", version: "1.0", size: 7, sha256: sum.sha256}
	paragraph := func(fields string) string {
		return "Package: hello\nVersion: 1.0\nSize: 7\nDescription: one\n two\n .\n three\n" + fields
	}
	for name, test := range map[string]struct {
		index, text string
		want        map[string]file // nil: refused
	}{
		"a package":      {"Packages", paragraph("Filename: pool/hello.deb\nSHA256: " + someHash), map[string]file{"pool/hello.deb": hello}},
		"a dot":          {"Packages", paragraph("Filename: ./pool/hello.deb\nSHA256: " + someHash + "\n"), map[string]file{"pool/hello.deb": hello}},
		"small letters":  {"Packages", paragraph("filename: pool/hello.deb\nsha256: " + strings.ToUpper(someHash) + "\r\n"), map[string]file{"pool/hello.deb": hello}},
		"no hash":        {"Packages", paragraph("Filename: pool/hello.deb\n"), map[string]file{}},
		"nothing":        {"Packages", "\n\n", map[string]file{}},
		"twice the same": {"Packages", strings.Repeat(paragraph("Filename: pool/hello.deb\nSHA256: "+someHash+"\n\n"), 2), map[string]file{"pool/hello.deb": hello}},
		"two contents":   {"Packages", paragraph("Filename: a\nSHA256: "+someHash+"\n\n") + "Package: a\nVersion: 2\nSize: 1\nFilename: a\nSHA256: " + someHash + "\n", nil},
		"a field twice":  {"Packages", paragraph("Filename: a\nFILENAME: b\nSHA256: " + someHash), nil},
		"a short hash":   {"Packages", paragraph("Filename: a\nSHA256: abcd"), nil},
		"no size":        {"Packages", "Package: hello\nVersion: 1\nFilename: a\nSHA256: " + someHash, nil},
		"no field":       {"Packages", "nonsense\n", nil},
		"no beginning":   {"Packages", " goes on\n", nil},
		"a null":         {"Packages", paragraph("Filename: a\x00b\nSHA256: " + someHash), nil},
		"a source": {
			"Sources", "Package: hello\nVersion: 1.0\nDirectory: pool/h\nChecksums-Sha256:\n " + someHash + " 7 a.dsc\n " + someHash + " 7 b.tar.gz\nFiles:\n x 7 a.dsc\n",
			map[string]file{"pool/h/a.dsc": hello, "pool/h/b.tar.gz": hello},
		},
		"a source's slash": {"Sources", "Package: hello\nVersion: 1.0\nDirectory: pool/h\nChecksums-Sha256:\n " + someHash + " 7 ../a.dsc\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for end, data := range map[string][]byte{"": []byte(test.text), ".gz": compressed(t, []byte(test.text), "gzip"), ".xz": compressed(t, []byte(test.text), "xz"), ".bz2": compressed(t, []byte(test.text), "bzip2")} {
				got, err := parseIndex("main/"+test.index+end, data)
				if test.want == nil {
					if err == nil {
						t.Errorf("%s: read as %v", end, got)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(file{})); diff != "" {
					t.Errorf("%s: %s", end, diff)
				}
			}
		})
	}
}

// A field of many lines costs no more than its length, several times.
func TestLongFieldsAreReadOnce(t *testing.T) {
	text := "SHA256:\n" + strings.Repeat(" 0123456789\n", 50_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := stanzas(strings.NewReader(text), []string{"SHA256"}, func(s stanza) error {
		if strings.Count(s[0], "\n0123456789") != 50_000 {
			t.Errorf("%d bytes of the field", len(s[0]))
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > 64<<20 {
		t.Errorf("%v: %d bytes were made", err, used)
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add("Packages", []byte("Package: hello\nVersion: 1.0\nSize: 7\nFilename: a\nSHA256: "+someHash+"\n"))
	f.Add("Sources", []byte("Package: hello\nVersion: 1.0\nDirectory: pool/h\nChecksums-Sha256:\n "+someHash+" 7 a.dsc\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		files, err := parseIndex(name, data)
		if err != nil {
			return
		}
		for name, file := range files {
			if strings.Contains(name, "\n") || file.size < 0 {
				t.Errorf("%q is %+v", name, file)
			}
		}
	})
}

func FuzzParseRelease(f *testing.F) {
	const date = "Date: Sat, 10 Jun 2023 08:53:33 UTC\n"
	f.Add([]byte("Suite: stable\n" + date + "SHA256:\n " + someHash + " 7 main/binary-amd64/Packages\n"))
	f.Add([]byte("Codename: stable\nValid-Until: Sat, 10 Jun 2023 08:53:33 +0000\n" + date + "SHA256:\n " + someHash + " 7 main/a\nSHA512:\n " + someHash + someHash + " 7 main/a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRelease("stable", data)
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		for name, e := range r.entries {
			raw, err := hex.DecodeString(e.sha256)
			if err != nil || len(raw) != 32 || e.size < 0 || !plain(name) {
				t.Errorf("%q is %+v", name, e)
			}
			if found, ok := r.find(name); !strings.Contains(name, "by-hash") && (!ok || found != name) {
				t.Errorf("%q is found as %q", name, found)
			}
		}
	})
}

func TestNamesOfDistributions(t *testing.T) {
	for _, test := range []struct {
		dist, suite, codename string
		ok                    bool
	}{
		{"stable", "stable", "forged", true},
		{"forged", "stable", "forged", true},
		{"forged-security", "stable-security", "forged-security", true},
		{"forged/updates", "stable", "forged", true},
		{"forged/updates", "stable", "forged/updates", true},
		{"anything", "", "", true},
		{"forged", "stable-security", "forged-security", false},
		{"forged-security", "stable", "forged", false},
		{"stable", "testing", "other", false},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			if got := named(test.dist, test.suite, test.codename); got != test.ok {
				t.Errorf("is %v", got)
			}
		})
	}
}

var (
	_ registry.Ecosystem = (*Ecosystem)(nil)
	_ registry.Fetcher   = (*forge)(nil)
)
