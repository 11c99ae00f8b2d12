"""Prompt templates: loaded by name, filled slot by slot, known by version and hash.

A template is a Markdown file in `templates/` with a header and two parts:

```
name: relevancy
version: 1
=== system ===
What the judge is asked to do. Slots look like {{rubric}}.
=== user ===
{{answer}}
```

Slots are filled in one pass, so braces in a value mean nothing and never start another slot.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Halves of a character, as a text cut in the middle may hold them: no request can carry one."""
_FORM = re.compile(r"name: (\S+)\nversion: (\d+)\n=== system ===\n(.*?)\n=== user ===\n(.*)", re.DOTALL)


class FilledPrompt(NamedTuple):
    """A prompt ready to send."""

    system: str
    user: str
    version: str
    """`name/version+hash` of the template it came from."""
    material: str | None = None
    """The judged material in it; `None` where that is the whole user part."""

    @property
    def judged(self) -> str:
        """The text in which an object is a quotation, never the judge's own verdict."""
        return self.user if self.material is None else self.material


class Prompt(NamedTuple):
    """A template: its two parts and what identifies it."""

    name: str
    version: str
    """`name/version+hash`; the hash is of the template's text, so an edited template never passes for the old one."""
    system: str
    user: str

    def fill(self, **slots: str) -> FilledPrompt:
        """The prompt with every slot filled.

        Raises:
            ValueError: A slot is missing or unknown; a template and its code do not fit.
        """
        wanted = set(_SLOT.findall(self.system + self.user))
        if wanted != set(slots):
            raise ValueError(f"template {self.name!r} has the slots {sorted(wanted)}, given were {sorted(slots)}")

        def filled(part: str) -> str:
            return _LONE_SURROGATE.sub("\ufffd", _SLOT.sub(lambda slot: slots[slot.group(1)], part))

        return FilledPrompt(filled(self.system), filled(self.user), self.version)


@cache
def load_prompt(name: str) -> Prompt:
    """The template `templates/<name>.md`.

    Raises:
        ValueError: The file has not the form described above, or another name in its header.
    """
    text = files("langchain_llm_judge").joinpath("templates", f"{name}.md").read_text(encoding="utf-8")
    form = _FORM.fullmatch(text)
    if form is None or form[1] != name:
        raise ValueError(f"templates/{name}.md has no header 'name: {name}', 'version: N' and two parts")
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Prompt(name, f"{name}/{form[2]}+{digest}", form[3].strip(), form[4].strip())
