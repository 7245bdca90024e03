package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	engine "github.com/fsouza/go-dockerclient"
)

// Labels of images. LabelManaged is not among them, because containers inherit the
// labels of their image, and a container that a person starts from our image is not
// ours.
const (
	LabelImage      = "ironcurtain.image"         // the spec's name
	LabelBuildHash  = "ironcurtain.build-hash"    // the hash in the tag
	LabelVersion    = "ironcurtain.agent-version" // the pinned version of the agent
	LabelToolchains = "ironcurtain.toolchains"    // the toolchains and packages of its recipe
)

// build runs the engine's own builder on a context assembled here. It asks for the
// builder of the first generation, because only that one works without a registry and
// without a second protocol.
func (b *imageBuild) build(ctx context.Context, spec ImageSpec, parent, tag string, files map[string]string, offline bool) error {
	contextR, contextW := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := writeContext(contextW, spec, files)
		contextW.CloseWithError(err)
		sent <- err
	}()
	out := &buildOutput{report: b.report}
	opts := engine.BuildImageOptions{
		Context: ctx, Name: tag, Dockerfile: "Dockerfile", Version: engine.BuilderV1,
		InputStream: contextR, OutputStream: out, RawJSONStream: true,
		RmTmpContainer: true, ForceRmTmpContainer: true,
		InactivityTimeout: 5 * time.Minute,
		BuildArgs:         []engine.BuildArg{{Name: "PARENT", Value: parent}},
		Labels: map[string]string{
			LabelImage:      spec.Name,
			LabelVersion:    spec.Version, // even if empty: that hides the parent's label
			LabelBuildHash:  tag[strings.LastIndex(tag, ":")+1:],
			LabelToolchains: b.options.Recipe.label(),
		},
	}
	maps.Copy(opts.Labels, spec.labels)
	if packages := spec.packages(); len(packages) > 0 {
		opts.BuildArgs = append(opts.BuildArgs, engine.BuildArg{Name: "PACKAGES", Value: strings.Join(packages, " ")})
	}
	if offline {
		opts.NetworkMode = "none"
	}
	err := b.client.bound(ctx).BuildImage(opts)
	contextR.Close()
	sendErr := <-sent
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.failure != "":
		err = errors.New(out.failure)
	case err == nil && !errors.Is(sendErr, io.ErrClosedPipe):
		err = sendErr
	}
	if err == nil {
		var present bool
		if present, err = b.client.hasImage(ctx, tag); err == nil && !present {
			err = errors.New("the builder ended without an image")
		}
	}
	if err != nil {
		b.dropLayers(ctx, out.layers)
		return fmt.Errorf("build image %s: %w", spec.Name, translate(err))
	}
	return nil
}

// dropLayers removes the untagged images that a failed build left. It starts with the
// newest, because removing an image also removes its unused ancestors.
func (b *imageBuild) dropLayers(ctx context.Context, layers []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	api := b.client.bound(ctx)
	for _, id := range slices.Backward(layers) {
		image, err := api.InspectImage(id)
		if err != nil || len(image.RepoTags) > 0 || len(image.RepoDigests) > 0 {
			continue
		}
		_ = api.RemoveImage(id) // fails, as it should, when somebody else uses the image
	}
}

// writeContext writes the build context as a tar stream: the spec's own files
// and those fetched for it.
func writeContext(w io.Writer, spec ImageSpec, files map[string]string) error {
	tw := tar.NewWriter(w)
	for name, data := range spec.files {
		err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))})
		if err == nil {
			_, err = tw.Write(data)
		}
		if err != nil {
			return err
		}
	}
	for name, path := range files {
		if err := writeFile(tw, name, path); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeFile(tw *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// The header carries no times, so that the same content makes the same layer.
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}

// buildOutput reads the engine's stream of JSON messages about a build, a pull
// or an import.
type buildOutput struct {
	report  *reporter
	rest    []byte
	failure string   // what the engine reported as the error
	layers  []string // image identifiers, in the order they came
	seen    func()   // called on every message; may be nil
}

// message is one message of the engine, as far as it is used.
type message struct {
	Stream   string `json:"stream"`
	Status   string `json:"status"`
	ID       string `json:"id"`
	Progress string `json:"progress"`
	Error    string `json:"error"`
}

// maxMessage bounds one message of the engine.
const maxMessage = 1 << 20

// layerLine is a line that names the image of a step: " ---> 3f1c…" from Docker, "--> 3f1c…" from
// Podman.
var layerLine = regexp.MustCompile(`^(?: -)?--> ([0-9a-f]{11,64})$`)

// Write accepts the stream in pieces of any size.
func (o *buildOutput) Write(p []byte) (int, error) {
	o.rest = append(o.rest, p...)
	for {
		i := bytes.IndexByte(o.rest, '\n')
		if i < 0 {
			break
		}
		o.line(o.rest[:i])
		o.rest = o.rest[i+1:]
	}
	if len(o.rest) > maxMessage {
		return 0, fmt.Errorf("a message of the engine is larger than %d bytes", maxMessage)
	}
	return len(p), nil
}

func (o *buildOutput) line(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return
	}
	if o.seen != nil {
		o.seen()
	}
	if m.Error != "" {
		o.failure = oneLine(m.Error)
		o.report.detail(o.failure)
		return
	}
	text := strings.TrimRight(m.Stream, "\r\n")
	if l := layerLine.FindStringSubmatch(text); l != nil {
		o.layers = append(o.layers, l[1])
		return
	}
	if strings.HasPrefix(text, " ---> ") || strings.HasPrefix(text, "Removing intermediate") {
		return
	}
	if m.Status != "" {
		text = strings.TrimSpace(m.ID + " " + m.Status + " " + m.Progress)
	}
	o.report.line(text, m.Progress != "")
}
