"""Options that several commands share, and how their values are written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from simt.cli.asked import Asked, Shape
from simt.cli.launches import find
from simt.cli.numbers import parse_shape, parse_size

if TYPE_CHECKING:
    from simt.profile import Profile


def _starting(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed)]


def kernel_names(incomplete: str) -> list[str]:
    """What a shell completes a KERNEL to; a file's name it completes itself."""
    import simt.kernels

    return _starting(simt.kernels.names(), incomplete)


def reduction_names(incomplete: str) -> list[str]:
    """What a shell completes a kernel of the family to."""
    import simt.kernels

    return _starting(simt.kernels.names("reduction"), incomplete)


def metric_names(incomplete: str) -> list[str]:
    """What a shell completes a metric to."""
    from simt.metrics import METRICS

    return _starting((metric.name for metric in METRICS.values()), incomplete)


def _svg_file(path: Path | None) -> Path | None:
    """The file of ``--svg``.  Raises BadParameter for a name that says that it is something else."""
    if path is not None and path.suffix.lower() != ".svg":
        raise typer.BadParameter(f"pictures are written as SVG; name it {path.with_suffix('.svg')}")
    return path


def _device_name(name: str | None) -> str | None:
    """The name of ``--device``.  Raises BadParameter for an empty one, as of a variable that is not set."""
    if name is not None and not name.strip():
        raise typer.BadParameter("which GPU? A name of simt devices, such as h200; or leave the option out")
    return name


def _device_names(incomplete: str) -> list[str]:
    import simt.devices

    return _starting(simt.devices.names(), incomplete)


Size = Annotated[int, typer.Option(parser=parse_size, metavar="N", help="Elements: 1000, 1_000_000, 2^24, 16M.")]
OptionalSize = Annotated[
    int | None,
    typer.Option(parser=parse_size, metavar="N", help="Elements: 1000, 2^10, 1K. Default: the kernel's own."),
]
Block = Annotated[int, typer.Option(metavar="N", help="Threads per block, 1 to 1024.")]
OptionalBlock = Annotated[
    Any,
    typer.Option(parser=parse_shape, metavar="N[,N[,N]]", help="Threads per block. Default: the kernel's own."),
]
Grid = Annotated[
    Any,
    typer.Option(
        parser=parse_shape,
        metavar="X[,Y[,Z]]",
        help="CUDA C, machine code: blocks. Default: --size / threads per block.",
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "--arg", metavar="VALUE", help="CUDA C, machine code: the next argument, as in [bold]simt profile[/bold]."
    ),
]
Shared = Annotated[
    int, typer.Option(min=0, metavar="BYTES", help="CUDA C, machine code: dynamic shared memory per block.")
]
Nvrtc = Annotated[
    list[str] | None,
    typer.Option("--nvrtc", metavar="OPTION", help="CUDA C: an option of the compiler, such as -DN=4 or -Ifolder."),
]
Dtype = Annotated[str, typer.Option(metavar="TYPE", help="int32, int64, float32 or float64.")]
Operation = Annotated[str, typer.Option(metavar="OP", help="sum, max, min or product.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the data, for NumPy's default_rng.")]
View = Annotated[
    str, typer.Option(metavar="VIEW", help="source, or an architecture such as sm_90 for its machine code.")
]
Predicate = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Source view: predicate if/else bodies of up to N instructions; 0: branch."),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="Which path runs first: then_first, else_first, interleaved, random:SEED; for machine code from sm_70 on "
        "profiler (its default) and hardware. Code for sm_75 and later takes neither interleaved nor random.",
    ),
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "--check",
        metavar="A,B,...",
        help="More checks (slower): racecheck, initcheck, synccheck, or all; memcheck is always on. "
        "racecheck:lanes compares lanes of one warp in machine code before sm_70, too.",
    ),
]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Collect what the checks find; else the first finding ends the launch.")
]
Schedule = Annotated[
    str | None,
    typer.Option(
        metavar="SCHEDULE",
        help="Which warp of which block runs when: round_robin, adversarial, random:SEED, or random:SEED:N, which "
        "preempts a warp at most N times. Default: block after block.",
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        metavar="BYTE|random:SEED",
        help="Initial contents of unwritten memory: 0xCD, random:1. Default: zeros.",
    ),
]
MaxInstructions = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Warp instructions that one block may execute before it is taken to hang."),
]
Fold = Annotated[
    bool,
    typer.Option(help="Gather machine instructions under their source lines, where these are known."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="Counter to show beside each line; may be repeated."),
]
Svg = Annotated[
    Path | None,
    typer.Option("--svg", metavar="FILE.svg", callback=_svg_file, help="Write it as a picture instead of printing it."),
]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Host threads. Default: one per core.")]
Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|interpreter|compiled",
        help="Whether native code of the kernel runs: once a launch is long, never, always. Results are the same.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
KernelArgument = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        autocompletion=kernel_names,
        help="A name of [bold]simt kernels[/bold], or FILE.py:FUNCTION, FILE.cu:KERNEL, FILE.cubin:KERNEL.",
    ),
]

Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=_device_names,
        callback=_device_name,
        help="The modelled GPU: a name of [bold]simt devices[/bold], or my.toml. Default: one that runs the code, "
        "else h200.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Replace a timing number of [bold]simt devices h200[/bold]: l1_latency=60; may be repeated.",
    ),
]
Sms = Annotated[
    str,
    typer.Option(
        metavar="auto|one|all|N",
        help="Multiprocessors to time: one with its share of the grid, all of them, N, or by what the blocks execute.",
    ),
]
MaxHostSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="How long timing may take on this computer, roughly: --sms auto takes fewer multiprocessors then "
        "(default: 60), --sms all is refused (600). A launch whose blocks take longer is predicted from some of them "
        "first.",
    ),
]
PLUS_MINUS = "± is met by two of three launches of the kind, of those compared with the device."
Timing = Annotated[
    bool,
    typer.Option("--timing", help=f"Simulate cycle by cycle, too: time, occupancy, what warps wait for. {PLUS_MINUS}"),
]


Found = TypeVar("Found")


@dataclass(frozen=True)
class KernelOptions:
    """A KERNEL and how it is launched."""

    kernel: KernelArgument
    size: OptionalSize = None
    view: View = "source"
    order: Order = None
    predicate: Predicate = 0
    check: Checks = None
    keep_going: KeepGoing = False
    fill: Fill = "0"
    max_instructions: MaxInstructions = 2**28
    seed: Seed = 0
    grid: Grid = None
    arg: Arguments = None
    shared: Shared = 0
    nvrtc: Nvrtc = None
    engine: Engine = "auto"

    def launch(self, block: Shape | None, constants: Sequence[tuple[str, str]] = (), **more: Any) -> Profile:
        """Launch it in blocks of so many threads (None: its own), with these constants of its file."""
        import simt

        return self.run(simt.launch, block, constants, **more)

    def run(
        self,
        how: Callable[..., Found],
        block: Shape | None,
        constants: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> Found:
        """Call *how*, which takes what :func:`simt.launch` takes."""
        return self.ready(how, block, constants, **more)()

    def ready(
        self,
        how: Callable[..., Found],
        block: Shape | None,
        constants: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> Callable[[], Found]:
        """The same as :meth:`run`, up to the call: the kernel is there, and its launch described."""
        architecture = None if self.view == "source" else self.view
        asked = Asked(
            self.size, block, self.seed, self.grid, self.arg or (), self.shared, architecture, self.nvrtc or (),
            tuple(constants),
        )  # fmt: skip
        found = find(self.kernel, asked)
        return partial(
            how, found.kernel, found.grid, found.block, *found.args,
            view=self.view, order=self.order, predicate=self.predicate, check=self.check or (),
            keep_going=self.keep_going, fill=self.fill, max_instructions=self.max_instructions,
            engine=self.engine, **found.options, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class LaunchOptions(KernelOptions):
    """The same with a block size."""

    block: OptionalBlock = None


@dataclass(frozen=True)
class ModelOptions:
    """The modelled GPU of a command that always times."""

    device: Device = None
    sms: Sms = "auto"
    max_host_seconds: MaxHostSeconds = None
    sets: Sets = None

    @property
    def keywords(self) -> dict[str, Any]:
        """For :func:`simt.launch`."""
        return {
            "device": self.device,
            "timing": True,
            "sms": _sms(self.sms),
            "max_host_seconds": self.max_host_seconds,
            "overrides": dict(_override(text) for text in self.sets or ()),
        }


@dataclass(frozen=True)
class TimingOptions(ModelOptions):
    """The modelled GPU of a command that times if asked to."""

    timing: Timing = False

    @property
    def keywords(self) -> dict[str, Any]:
        """For :func:`simt.launch`."""
        if self.timing:
            return super().keywords
        untimed = {"--set": self.sets, "--sms": self.sms != "auto", "--max-host-seconds": self.max_host_seconds}
        for option in (name for name, given in untimed.items() if given):
            raise typer.BadParameter("it applies to the timing model; add --timing", param_hint=option)
        return {"device": self.device}


def _sms(text: str) -> str | int:
    if text in ("auto", "one", "all"):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is not auto, one, all, or a number of SMs", param_hint="--sms")
    return int(text)


def _override(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not NAME=NUMBER, such as l1_latency=60", param_hint="--set") from None


_FIRST = ("kernel", "size", "block")
"""Options that lead their group in the help."""


def _hints(owner: Any) -> dict[str, Any]:
    """Type hints with their annotations.

    Before Python 3.11 that of a parameter whose default is None comes wrapped in Optional, which hides them.
    """
    hints = get_type_hints(owner, include_extras=True)
    for name, hint in hints.items():
        annotated = [part for part in get_args(hint) if hasattr(part, "__metadata__")]
        if get_origin(hint) is Union and annotated:
            hints[name] = annotated[0]
    return hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters may be dataclasses of options: on the command line, their fields."""
    hints = _hints(command)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            group = groups[parameter.name]
            types = _hints(group)
            ordered = sorted(fields(group), key=lambda f: _FIRST.index(f.name) if f.name in _FIRST else len(_FIRST))
            options = [(f.name, parameter.empty if f.default is MISSING else f.default) for f in ordered]
        else:
            types, options = hints, [(parameter.name, parameter.default)]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            for name, default in options
        ]

    def run(**values: Any) -> None:
        made = {
            name: group(**{option.name: values.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # which typer reads
    run.__annotations__ = {}
    return run


LAUNCH_IN_FILE = """[bold]FILE.py:FUNCTION[/bold] is a kernel in a file of yours. The file describes its
launch in a function launch_FUNCTION(), or launch(), that returns a dict with the keys grid, block, args and,
if wanted, shared_bytes. For a kernel saxpy(a, x, y):

  def launch_saxpy(size=1000, block=256): return dict(grid=-(-size // block), block=block,
args=(2.0, np.ones(size), np.zeros(size)))

--size and --block are passed on if that function has parameters of these names.

[bold]FILE.cu:KERNEL[/bold] is a kernel of CUDA C, [bold]FILE.cubin:KERNEL[/bold] one of machine code: give --grid (or
--size), --block and for each argument an --arg. [bold]simt profile --help[/bold] shows how arguments are written."""
