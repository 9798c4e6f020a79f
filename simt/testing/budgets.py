"""What a kernel may cost: counts in a file that a change may not exceed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from simt.check import LaunchError
from simt.metrics.formula import Number
from simt.profile import Profile
from simt.testing.errors import OverBudgetError

FILE = "simt-budgets.json"
"""Where budgets are, unless another file is named."""

METRICS = ("inst_executed",)
"""What is held to a budget, unless other metrics are named."""

Budgets = dict[str, dict[str, Number]]


def budget(
    profile: Profile,
    name: str = "",
    *,
    metrics: Sequence[str] = METRICS,
    file: str | Path = FILE,
    update: bool = False,
) -> None:
    """Hold a launch to the budget called *name* (default: the kernel and its view) in a JSON file.

    *metrics* are metrics by nvprof or ncu name of which less is better; each may be at most what the file says.
    *update* writes what the launch counted instead.

    Raises OverBudgetError that says which metric is over by how much, or that there is no budget; LaunchError for a
    file that holds no budgets; UnknownMetricError for a metric that there is not.
    """
    entry = name or default_name(profile)
    counted = counts(profile, metrics)
    if update:
        write({**read(file), entry: counted}, file)
    else:
        hold(entry, counted, read(file), file)


def default_name(profile: Profile) -> str:
    """The kernel and its view: ``saxpy (sm_90)``."""
    return f"{profile.kernel} ({profile.view})"


def counts(profile: Profile, metrics: Sequence[str]) -> dict[str, Number]:
    """The metrics of a launch.  Raises LaunchError for one that the launch does not define."""
    found: dict[str, Number] = {}
    for metric in metrics:
        value = profile.metrics[metric]
        if value is None:
            raise LaunchError(
                f"{metric} is not defined for this launch of {profile.kernel}", help="budget another metric"
            )
        found[metric] = value
    return found


def hold(
    name: str, counted: Mapping[str, Number], budgets: Budgets, file: str | Path, how: str = "update=True"
) -> None:
    """Raise OverBudgetError if *counted* is over the budget called *name*, or there is none.

    *how*: what the user writes to have the budget written.
    """
    allowed = budgets.get(name, {})
    over, missing = [], []
    for metric, value in counted.items():
        limit = allowed.get(metric)
        if limit is None:
            missing.append(metric)
        elif value > limit:
            share = f" ({100 * (value - limit) / limit:.1f} %)" if limit else ""
            over.append(f"{metric} is {_text(value)}, {_text(value - limit)}{share} more than {_text(limit)}")
    if over:
        raise OverBudgetError(
            f"{name}: {over[0]}",
            details=[*over[1:], f"the budget is in {file}"],
            help=f"if this is intended, update the budget: {how}",
        )
    if missing:
        raise OverBudgetError(
            f"{name} has no budget for {', '.join(missing)} in {file}",
            help=f"{how} writes what the launch counts now",
        )


def read(file: str | Path) -> Budgets:
    """The budgets of a file; none if there is no file.  Raises LaunchError if it is not one of budgets."""
    path = Path(file)
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise LaunchError(f"{path} cannot be read as budgets: {error}") from None
    entries = found.values() if isinstance(found, dict) else [None]
    for entry in entries:
        numbers = entry.values() if isinstance(entry, dict) else [None]
        if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
            raise LaunchError(
                f"{path} holds no budgets",
                details=['they are {"name": {"inst_executed": 1200}}'],
                help="repair it, or delete it and write new budgets",
            )
    budgets: Budgets = found
    return budgets


def write(budgets: Budgets, file: str | Path) -> None:
    """Write a file of budgets, in order of their names, so that a difference is easy to read."""
    ordered = {name: dict(sorted(budgets[name].items())) for name in sorted(budgets)}
    Path(file).write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _text(value: Number) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
