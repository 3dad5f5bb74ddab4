"""Every code block of every document runs."""

import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore:The neighbourhood graph")
def test_code_blocks_run(page, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    module = types.ModuleType(page.stem)  # a real one, so that its classes can be pickled
    monkeypatch.setitem(sys.modules, page.stem, module)
    exec(compile("\n".join(blocks), page.name, "exec"), module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_within_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_file_named_in_a_page_exists():
    page = (ROOT / "docs" / "how_it_works.md").read_text()
    for name in re.findall(r"`((?:kernels/|extensions/|tests/)?[a-z_]+\.py)`", page):
        places = (ROOT / name, ROOT / "src" / "eigenmaps" / name)
        assert any(place.exists() for place in places), name
