import eigenmaps

project = "eigenmaps"
author = "the eigenmaps developers"
copyright = "2026, the eigenmaps developers"
release = eigenmaps.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "myst_parser", "numpydoc"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
templates_path = ["_templates"]
fragments = [f"papers/{name}.md" for name in ("figure1", "convergence", "choosing")]
exclude_patterns = ["_build", "_templates", *fragments]
html_theme = "pydata_sphinx_theme"
nitpicky = False
suppress_warnings = ["myst.xref_missing"]
