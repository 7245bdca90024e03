package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// Service managers read in a unit the very paths that it was made of.
func TestUnitsKeepPaths(t *testing.T) {
	const program, home = "/opt/a b/100% $HOME é/<&>/ironcurtain-mux", `/srv/"it's" \n $HOME %h <&>`
	u := unit{program: program, variables: []variable{{"IRONCURTAIN_HOME", home}}}
	text, err := u.systemd()
	if err != nil {
		t.Fatal(err)
	}
	read := readSystemd(t, text)
	for key, want := range map[string][]string{
		"Service.ExecStart": {program, "serve"}, "Service.Environment": {"IRONCURTAIN_HOME=" + home},
		"Service.Restart": {"on-failure"}, "Service.KillMode": {"mixed"}, "Install.WantedBy": {"default.target"},
	} {
		if !slices.Equal(read[key], want) {
			t.Errorf("%s is %q, want %q", key, read[key], want)
		}
	}

	if text, err = u.launchd(); err != nil {
		t.Fatal(err)
	}
	got := readPlist(t, text)
	want := []string{
		"Label", "ironcurtain-mux", "ProgramArguments", program, "serve", "EnvironmentVariables", "IRONCURTAIN_HOME", home,
		"RunAtLoad", "true", "KeepAlive", "SuccessfulExit", "false", "ProcessType", "Interactive",
	}
	if !slices.Equal(got, want) {
		t.Errorf("launchd reads %q, want %q", got, want)
	}
}

// A path that a service manager would read otherwise, or not at all, is refused.
func TestUnitsRefusePaths(t *testing.T) {
	for name, c := range map[string]struct {
		program, home string
		launchd       bool // only systemd refuses it
	}{
		"quote":            {`/a"b`, "/s", true},
		"apostrophe":       {`/a'b`, "/s", true},
		"backslash":        {`/a\b`, "/s", true},
		"line":             {"/a\nRestart=no", "/s", false},
		"line of the home": {"/a", "/s\nRestart=no", false},
		"not text":         {"/a\xff", "/s", false},
	} {
		t.Run(name, func(t *testing.T) {
			u := unit{program: c.program, variables: []variable{{"IRONCURTAIN_HOME", c.home}}}
			if _, err := u.systemd(); err == nil {
				t.Error("systemd gets it")
			}
			if _, err := u.launchd(); (err == nil) != c.launchd {
				t.Errorf("launchd: %v", err)
			}
		})
	}
}

// readSystemd reads the settings of a unit, as words by section and name, in the way in which
// systemd does.
func readSystemd(t *testing.T, text string) map[string][]string {
	t.Helper()
	all, section := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "["); found {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if line == "" {
			continue
		}
		if key = section + "." + key; !found || section == "" || all[key] != nil {
			t.Fatalf("cannot read %q", line)
		}
		all[key] = systemdWords(t, value)
	}
	return all
}

// systemdWords splits a value into words. Outside of quotes there are only plain words.
func systemdWords(t *testing.T, value string) (words []string) {
	t.Helper()
	for value != "" {
		rest, quoted := strings.CutPrefix(value, `"`)
		if !quoted {
			word, after, _ := strings.Cut(value, " ")
			words, value = append(words, word), after
			if strings.ContainsAny(word, `"'\%$`) {
				t.Fatalf("%q is not quoted", word)
			}
			continue
		}
		var b strings.Builder
		for !strings.HasPrefix(rest, `"`) {
			two := rest[:min(2, len(rest))]
			switch {
			case two == `\\` || two == `\"` || two == "%%":
				b.WriteByte(two[1])
				rest = rest[2:]
			case rest == "" || two[0] == '\\' || two[0] == '%':
				t.Fatalf("cannot read %q", value)
			default:
				b.WriteByte(two[0])
				rest = rest[1:]
			}
		}
		words, value = append(words, b.String()), strings.TrimPrefix(rest[1:], " ")
	}
	return words
}

// readPlist returns the texts of a property list, and its values without a text, in order.
func readPlist(t *testing.T, text string) (values []string) {
	t.Helper()
	within := ""
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return values
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if within = e.Name.Local; within == "true" || within == "false" {
				values = append(values, within)
			}
		case xml.CharData:
			if within == "key" || within == "string" {
				values = append(values, string(e))
			} else if strings.TrimSpace(string(e)) != "" {
				t.Fatalf("%q stands in %s", e, within)
			}
		case xml.EndElement:
			within = ""
		}
	}
}
