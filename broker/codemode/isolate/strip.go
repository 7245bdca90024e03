package isolate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// A program is the body of an async function, so it can await and return.
const before, after = "(async()=>{", "\n})()"

// strip makes JavaScript of a program, and the map from its lines to those of the program.
func strip(code string) (js string, lines *sourceMap, err error) {
	r := api.Transform(before+code+after, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ES2022, LogLevel: api.LogLevelSilent, Sourcefile: "program",
		Sourcemap: api.SourceMapExternal, TsconfigRaw: "{}",
	})
	if len(r.Errors) == 0 {
		return string(r.Code), newSourceMap(r.Map), nil
	}
	var all []string
	for _, e := range r.Errors[:min(3, len(r.Errors))] {
		where := ""
		if e.Location != nil {
			where = fmt.Sprintf("line %d: ", e.Location.Line)
		}
		all = append(all, where+e.Text)
	}
	return "", nil, errors.New("SyntaxError: " + strings.Join(all, "; "))
}

// shellWords matches the beginnings of shell commands that models tend to send in place of
// programs.
var shellWords = regexp.MustCompile(`^\s*(\$ |#!|(sudo|ls|cd|cat|pwd|grep|rg|find|echo|head|tail|mkdir|rm|cp|mv|touch|sed|awk|curl|wget|git|npm|npx|node|python3?|pip|go|make|bash|sh|docker)( |$))`)

// notAShell tells the author of a shell command what to send instead.
func notAShell(code string) string {
	if !shellWords.MatchString(code) {
		return ""
	}
	return "\nThis is no shell: send the body of an async TypeScript function that calls the tools and returns a value"
}
