package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// unit is what a service manager must know about the daemon. It contains no secret.
type unit struct {
	program   string
	arguments []string // after "serve"
	variables []variable
}

type variable struct{ name, value string }

// thisUnit returns the unit of this program, with the directories from its environment and the
// engine that the person has named.
func thisUnit(engine wiring.EngineFlag) (u unit, err error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return u, err
	}
	u.arguments = running.EngineArguments(engine.In(p).Engine)
	if u.program, err = os.Executable(); err != nil {
		return u, err
	}
	for _, name := range []string{"IRONCURTAIN_HOME", "IRONCURTAIN_CACHE"} {
		if value := os.Getenv(name); value != "" {
			u.variables = append(u.variables, variable{name, value})
		}
	}
	return u, nil
}

// unitKinds are the service managers for which a unit can be printed.
var unitKinds = map[string]func(unit) (string, error){"systemd": unit.systemd, "launchd": unit.launchd}

// printUnit prints the unit of this program for a service manager.
func printUnit(cmd *cobra.Command, kind string, engine wiring.EngineFlag) error {
	textOf, known := unitKinds[kind]
	if !known {
		return cli.Usagef("--print-unit %q is neither systemd nor launchd", kind)
	}
	u, err := thisUnit(engine)
	text := ""
	if err == nil {
		text, err = textOf(u)
	}
	if err == nil {
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	}
	return cli.Fail("print unit", err, "")
}

// check returns an error if a value cannot be written in a unit.
func (u unit) check() error {
	all := append([]variable{{"the program", u.program}}, u.variables...)
	for _, a := range u.arguments {
		all = append(all, variable{"the engine", a})
	}
	for _, v := range all {
		if !utf8.ValidString(v.value) || strings.ContainsFunc(v.value, unicode.IsControl) {
			return fault.New("use another path", "%s cannot be written in a unit: %q", v.name, v.value)
		}
	}
	return nil
}

// systemd returns the unit for a user's systemd. With KillMode=mixed, programs that the daemon has
// started on this machine end with it; agents in containers do not.
func (u unit) systemd() (string, error) {
	if strings.ContainsAny(u.program, `"'\`) { // quoted or not
		return "", fault.New("install the program at another path", "systemd cannot start a program at the path %q", u.program)
	}
	arguments, variables := "", ""
	for _, a := range u.arguments {
		arguments += " " + quoteSystemd(strings.ReplaceAll(a, "$", "$$"))
	}
	for _, v := range u.variables {
		variables += "Environment=" + quoteSystemd(v.name+"="+v.value) + "\n"
	}
	return `[Unit]
Description=ironcurtain-mux: coding agents that outlive their terminals

[Service]
ExecStart=` + quoteSystemd(u.program) + ` serve` + arguments + `
` + variables + `Restart=on-failure
KillMode=mixed

[Install]
WantedBy=default.target
`, u.check()
}

// quoteSystemd quotes a word for systemd. It does not escape dollar signs, which have no special
// meaning in a variable's value and in the path of a program.
func quoteSystemd(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// launchd returns the property list for launchd. With ProcessType Interactive, launchd does not
// slow the daemon down, so keystrokes do not wait.
func (u unit) launchd() (string, error) {
	arguments, variables := "", ""
	for _, a := range u.arguments {
		arguments += "\t\t<string>" + quoteXML(a) + "</string>\n"
	}
	for _, v := range u.variables {
		variables += "\t\t<key>" + v.name + "</key>\n\t\t<string>" + quoteXML(v.value) + "</string>\n"
	}
	if variables != "" {
		variables = "\t<key>EnvironmentVariables</key>\n\t<dict>\n" + variables + "\t</dict>\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>ironcurtain-mux</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + quoteXML(u.program) + `</string>
		<string>serve</string>
` + arguments + `	</array>
` + variables + `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Interactive</string>
</dict>
</plist>
`, u.check()
}

// quoteXML quotes text for XML.
func quoteXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to a strings.Builder never fails
	return b.String()
}
