package body

import "fmt"

// tools walks a list of tools, of which one reads one.
func (j *judge) tools(one func() (bool, error)) error {
	switch j.Peek() {
	case '[':
		return j.filter(func() (bool, error) {
			if j.Peek() != '{' {
				return false, fmt.Errorf("tools holds something that is not an object")
			}
			return one()
		})
	case 'n':
		return j.skip()
	}
	return fmt.Errorf("tools is not an array")
}

// keepTool remembers what became of a tool.
func (j *judge) keepTool(keep bool, kind, name string) bool {
	names := &j.keptNames
	if !keep {
		names = &j.removedNames
		j.note("tools:%s", kind)
	}
	if *names == nil {
		*names = make(map[string]bool)
	}
	(*names)[name] = true
	return keep
}
