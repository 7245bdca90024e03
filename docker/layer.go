package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// LabelParent is the identifier of the image that a layer was made on.
const LabelParent = "ironcurtain.parent"

// layerImage is the name of the images that EnsureLayer makes.
const layerImage = "layer"

// layerFormat is part of the tag. It changes when the same files make another layer.
const layerFormat = 1

// ErrLayer means that a layer cannot be made; test with errors.Is.
var ErrLayer = errors.New("the layer is not usable")

// Layer is files that are added to an image, if nothing of this machine can be mounted: our program
// in the container, system files, mount points. The image need not be one of this program.
type Layer struct {
	Files []LayerFile // in any order
}

// LayerFile is a file, a link or a directory of a layer. It replaces what the image has at its path,
// except that a directory keeps its content. Missing directories above it are made, owned by root
// and with the mode 0755.
type LayerFile struct {
	Path     string // absolute, in its shortest form
	Data     []byte // of a file
	Link     string // target of a symbolic link; empty: it is none
	Dir      bool
	UID, GID int
	Mode     fs.FileMode // permissions, and fs.ModeSticky for a directory; ignored for a link
}

// EnsureLayer returns the tag of an image that is the parent with the layer on it. The tag contains
// the hash of both, so each engine makes it once, with its builder and without a network. The parent,
// a tag or an identifier, must exist (ErrNoImage). When several processes want the same layer, one
// makes it and the others wait.
func (c *Client) EnsureLayer(ctx context.Context, parent string, l Layer, o BuildOptions) (tag string, err error) {
	op := "prepare image " + parent
	archive, err := l.archive()
	if err != nil {
		return "", fault.Wrap(op, err, "")
	}
	found, err := c.bound(ctx).InspectImage(parent)
	if err != nil {
		return "", fault.Wrap(op, translate(err), "")
	}
	if found.Config == nil {
		return "", fault.Wrap(op, because(ErrLayer, "the engine does not return the configuration of %s", parent), "")
	}
	if len(found.Config.OnBuild) > 0 {
		return "", fault.Wrap(op, errOnBuild, "")
	}
	tag = repository + layerImage + ":" + layerHash(bareID(found.ID), archive)
	present, err := c.hasImage(ctx, tag)
	if err == nil && !present {
		err = c.makeLayer(ctx, found, archive, tag, o)
	}
	if err == nil {
		err = c.hasOneMore(ctx, tag, found)
	}
	return tag, fault.Wrap(op, err, "")
}

// makeLayer makes the image with a tag: the parent with the archive on it.
func (c *Client) makeLayer(ctx context.Context, parent *engine.Image, archive []byte, tag string, o BuildOptions) error {
	if err := o.makeLocks(); err != nil {
		return fault.Wrap("", err, "set IRONCURTAIN_CACHE to a directory you can write to")
	}
	id := bareID(parent.ID)
	b := &imageBuild{client: c, options: o, report: newReporter(o, 1)}
	spec := ImageSpec{
		Name:  layerImage,
		files: map[string][]byte{"Dockerfile": []byte("ARG PARENT\nFROM ${PARENT}\nADD layer.tar /\n"), "layer.tar": archive},
		labels: map[string]string{
			LabelParent:     id,
			LabelVersion:    parent.Config.Labels[LabelVersion],
			LabelToolchains: parent.Config.Labels[LabelToolchains],
		},
	}
	// By the identifier, because the tag may have moved to another image meanwhile.
	return b.ensure(ctx, spec, id, tag)
}

// errOnBuild refuses an image with steps that a builder would carry out in front of ours.
var errOnBuild = fault.Wrap("", because(ErrLayer, "the image has ONBUILD instructions for images that are built on it"), "use an image without them")

// hasOneMore removes an image that was made of a parent, and returns errOnBuild, if it has more than
// our layer on the parent's. Podman does not report ONBUILD instructions and carries them out.
func (c *Client) hasOneMore(ctx context.Context, tag string, parent *engine.Image) error {
	made, err := c.bound(ctx).InspectImage(tag)
	if err != nil {
		return translate(err)
	}
	if made.RootFS != nil && parent.RootFS != nil && len(made.RootFS.Layers) == len(parent.RootFS.Layers)+1 {
		return nil
	}
	return errors.Join(errOnBuild, c.bound(ctx).RemoveImage(tag))
}

// bareID returns an image's identifier in the form that every engine's builder accepts.
func bareID(id string) string { return strings.TrimPrefix(id, "sha256:") }

func layerHash(parent string, archive []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "layer %d\nparent %s\n", layerFormat, parent)
	h.Write(archive)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// archive returns the layer as a tar archive. Equal layers make equal archives.
func (l Layer) archive() ([]byte, error) {
	files := slices.Clone(l.Files)
	slices.SortFunc(files, func(a, b LayerFile) int { return strings.Compare(a.Path, b.Path) })
	notDir := map[string]bool{} // paths of files and links: nothing can be below them
	var out bytes.Buffer
	tw := tar.NewWriter(&out)
	for i, f := range files {
		if err := f.validate(); err != nil {
			return nil, err
		}
		if i > 0 && files[i-1].Path == f.Path {
			return nil, because(ErrLayer, "the layer has %s twice", f.Path)
		}
		for dir := path.Dir(f.Path); dir != "/"; dir = path.Dir(dir) {
			if notDir[dir] {
				return nil, because(ErrLayer, "%s is below %s, which is not a directory", f.Path, dir)
			}
		}
		notDir[f.Path] = !f.Dir
		err := tw.WriteHeader(f.header())
		if err == nil {
			_, err = tw.Write(f.Data)
		}
		if err != nil {
			return nil, because(ErrLayer, "%s: %v", f.Path, err)
		}
	}
	if err := tw.Close(); err != nil {
		return nil, because(ErrLayer, "%v", err)
	}
	return out.Bytes(), nil
}

// header returns the file's header in the archive. It has no time, so that the same content makes
// the same archive.
func (f LayerFile) header() *tar.Header {
	h := &tar.Header{Name: strings.TrimPrefix(f.Path, "/"), Uid: f.UID, Gid: f.GID, Mode: int64(unixMode(f.Mode)), Typeflag: tar.TypeReg, Size: int64(len(f.Data))}
	switch {
	case f.Dir:
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
	case f.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
	}
	return h
}

// unixMode returns a mode's bits as the kernel has them.
func unixMode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// validate refuses what an engine could misunderstand.
func (f LayerFile) validate() error {
	switch {
	case !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "/" || strings.ContainsRune(f.Path+f.Link, 0):
		return because(ErrLayer, "%q is not the path of a file", f.Path)
	case strings.Contains(f.Path+"/", "/.wh."):
		return because(ErrLayer, "%s has a name with which engines mark deleted files", f.Path)
	case f.Dir && f.Link != "" || (f.Dir || f.Link != "") && len(f.Data) > 0:
		return because(ErrLayer, "%s is more than one of file, link and directory", f.Path)
	case f.Mode&^(fs.ModePerm|fs.ModeSticky) != 0 || f.Mode&fs.ModeSticky != 0 && !f.Dir:
		return because(ErrLayer, "%s cannot have the mode %s", f.Path, f.Mode)
	case f.UID < 0 || f.GID < 0:
		return because(ErrLayer, "%s has a negative owner", f.Path)
	}
	return nil
}
