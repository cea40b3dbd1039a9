"""The analysis plan of a study, and its hash: what can be registered before any response is seen."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from analysis.schema.study import Study

#: Settings that change no number: where the file lies, what it sets, how things are called in print.
_PRESENTATION: Final = frozenset({"name", "path", "given", "tables"})
_PRESENTED: Final = {"ModelEntry": frozenset({"label"}), "Report": frozenset({"tables"})}
#: Settings that came later: a plan without them keeps its hash.
_LATER: Final = frozenset({"families"})
_LATER_OF: Final = {"MapRule": frozenset({"joined"})}
#: Raised when the same settings come to mean another analysis.
PLAN_VERSION: Final = 1


def analysis_plan(study: Study) -> dict[str, Any]:
    """Every setting of a study that can change a number, as plain JSON values, defaults included."""
    settings = _plain(study)
    named = [key for key in sorted(settings) if settings[key] or key not in _LATER]
    return {"plan_version": PLAN_VERSION, **{key: settings[key] for key in named}}


def plan_digest(study: Study) -> str:
    """SHA-256 of the plan, in hexadecimal.

    Two files with equal settings have equal hashes, whatever their order, comments, labels and place.
    """
    text = json.dumps(analysis_plan(study), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        hidden = _PRESENTED.get(type(value).__name__, frozenset[str]()) | (
            _PRESENTATION if isinstance(value, Study) else frozenset[str]()
        )
        later = _LATER_OF.get(type(value).__name__, frozenset[str]())
        hidden |= {name for name in later if not getattr(value, name)}
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.name not in hidden}
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
