"""conf.py - the pages of the tree as one offline HTML book: Sphinx with MyST for Markdown and Breathe for Doxygen's XML.

`make docs` (.ci/docs) runs it. Pages stay where they are; a link to a folder becomes one to its README, a link to a
source stays text.
"""
import logging
import os
import re

project = "heddle"
extensions = ["myst_parser", "breathe"]
root_doc = "docs/README"
include_patterns = ["README.md", "CHANGELOG.md", "docs/*.md", "**/README.md", "hw/REGISTERS.md", "compiler/ir/IR.md",
                    "waves/SOFTMAX.md", "man/*.md", "api/*.md"]
exclude_patterns = ["tests/models/**", "build/**"]
html_theme = "alabaster"
html_theme_options = {"description": "hardware and software, side by side", "page_width": "1100px", "sidebar_width": "240px"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
html_show_copyright = False
smartquotes = False
myst_heading_anchors = 4
breathe_projects = {"heddle": os.environ.get("HEDDLE_DOXYGEN", "")}
breathe_default_project = "heddle"
breathe_domain_by_extension = {"h": "c"}

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
CONTENTS = """
```{toctree}
:hidden:
:glob:
:caption: %s
%s
```
"""


def link(tree, page):
    """Return the function that replaces a link of `page`: pages and pictures stay, folders lead to their README."""
    def replace(m):
        target = os.path.normpath(os.path.join(os.path.dirname(page), m[3]))
        if re.match(r"[a-z]+:", m[3]) or m[1] or m[3].endswith(".md"):
            return m[0]
        if os.path.isdir(os.path.join(tree, target)) and os.path.exists(os.path.join(tree, target, "README.md")):
            return "[%s](%s)" % (m[2], os.path.join(m[3], "README.md") + (m[4] or ""))
        return "%s (`%s`)" % (m[2].strip("`"), target)
    return replace


def read(app, name, text):
    if name == root_doc:
        text[0] += CONTENTS % ("Pages", "../docs/*") + CONTENTS % ("Commands", "../man/*") + \
            CONTENTS % ("C interface", "../api/*") + CONTENTS % ("Folders", "../README\n../CHANGELOG\n../hw/REGISTERS\n../compiler/ir/IR\n../waves/SOFTMAX\n../*/README\n../*/**/README")
    fences = re.split(r"(^```.*?^```)", text[0], flags=re.MULTILINE | re.DOTALL)
    text[0] = "".join(part if n % 2 else LINK.sub(link(app.srcdir, name + ".md"), part) for n, part in enumerate(fences))


# In C a struct and a function may have one name; Sphinx 5 calls that a duplicate.
logging.getLogger("sphinx.sphinx.domains.c").addFilter(lambda record: "Duplicate C declaration" not in record.getMessage())


def setup(app):
    app.connect("source-read", read)
