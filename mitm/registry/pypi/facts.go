package pypi

import (
	"context"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Facts reads the document of the project.
func (Ecosystem) Facts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	switch {
	case a.Kind == registry.Artifact:
		return artifactFacts(ctx, f, o, a)
	case a.Form == formProject || a.Form == formRelease:
		return legacyFacts(ctx, f, o, a)
	}
	return pageFacts(ctx, f, o, a.Name)
}

func artifactFacts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	facts, err := pageFacts(ctx, f, o, a.Name)
	if err != nil {
		return nil, err
	}
	if v, _ := facts.File(a.URL()); v == nil {
		return nil, registry.Refuse(403, registry.ReasonUnlisted, "the registry's document of %s does not list this file", a.Name)
	}
	return facts, nil
}

// pageFacts reads the document of a project, at either of its possible paths.
func pageFacts(ctx context.Context, f registry.Fetcher, o *registry.Origin, project string) (*registry.Facts, error) {
	var doc *registry.Document
	err := error(registry.ErrNotFound)
	for _, path := range layoutOf(o).paths(project) {
		if doc, err = f.Document(ctx, o, path, acceptSimple); !errors.Is(err, registry.ErrNotFound) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var p *page
	switch doc.Type {
	case typeJSON:
		p, err = readJSON(o, doc, project)
	case typeHTML, typeHTML1:
		p, err = readHTML(o, doc, project)
	default:
		err = errors.New("it is neither the JSON nor the HTML of a Python index")
	}
	if err != nil {
		return nil, refuseDocument(project, err)
	}
	if len(p.items) == 0 && p.away != "" {
		return nil, registry.Refuse(502, registry.ReasonDocument,
			"the files of %s are at %s, which is not in this registry's artifacts in config.json", project, p.away)
	}
	return &registry.Facts{Name: project, Document: doc, Versions: p.versions(), State: p}, nil
}

func refuseDocument(project string, err error) error {
	return registry.Refuse(502, registry.ReasonDocument, "the registry's document of %s is not accepted: %v", project, err)
}
