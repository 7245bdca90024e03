package toolchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// devcontainer is the part of a devcontainer.json that is used. The other members are ignored: they
// would run something or weaken the container's isolation.
type devcontainer struct {
	image      string
	toolchains []string
	unknown    []string
}

// devcontainerFiles are the places where a devcontainer.json can be.
var devcontainerFiles = []string{".devcontainer/devcontainer.json", ".devcontainer.json"}

// reference matches the name of an image in a registry, which has at most maxReference characters.
var reference = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._/:@-]*$`)

const maxReference = 255

// readDevcontainer reads the workspace's devcontainer.json, if it has one.
func readDevcontainer(root *os.Root) (devcontainer, error) {
	for _, name := range devcontainerFiles {
		data, err := bounded.ReadFile(root.OpenFile, name, mostFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c devcontainer
		if err == nil {
			c, err = parseDevcontainer(data)
		}
		if err != nil {
			return devcontainer{}, fmt.Errorf("read %s: %w", name, err)
		}
		return c, nil
	}
	return devcontainer{}, nil
}

// parseDevcontainer parses the image and the features. The file is JSON with comments and trailing
// commas.
func parseDevcontainer(data []byte) (devcontainer, error) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return devcontainer{}, err
	}
	var file struct {
		Image    string                     `json:"image"`
		Features map[string]json.RawMessage `json:"features"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return devcontainer{}, err
	}
	if file.Image != "" && (len(file.Image) > maxReference || !reference.MatchString(file.Image)) {
		return devcontainer{}, fmt.Errorf("%q is not the name of an image", text.Clip(file.Image, 80))
	}
	c := devcontainer{image: file.Image}
	for feature := range file.Features {
		name, known := featureName(feature)
		switch {
		case known && name != "":
			c.toolchains = append(c.toolchains, name)
		case !known:
			c.unknown = append(c.unknown, feature)
		}
	}
	slices.Sort(c.toolchains)
	slices.Sort(c.unknown)
	return c, nil
}

// featureName returns the toolchain for a feature, and whether the feature is known. A known feature
// that every image has needs no toolchain.
func featureName(feature string) (toolchain string, known bool) {
	name, _, _ := strings.Cut(path.Base(feature), ":")
	switch name {
	case "go", "java", "node", "python", "rust":
		return name, true
	case "common-utils", "git":
		return "", true
	}
	return "", false
}
