"""``simt profile``: a kernel of a cubin or SASS listing, executed as machine code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simt.check import LaunchError
from simt.cli import machine_files
from simt.cli.numbers import parse_shape
from simt.cli.options import Columns, Engine, Fold, Json, MaxInstructions, Nvrtc, Order, Threads, TimingOptions, grouped
from simt.cli.output import check_writable, columns, print_json, progress, say, table
from simt.cli.output import show as show_table
from simt.cli.programs import preview
from simt.cli.trace import show

if TYPE_CHECKING:
    from simt.sass import Kernels, SassKernel

EXAMPLES = """Examples:

  [bold]simt profile kernels.cubin[/bold]

  [bold]simt profile kernels.cu --kernel saxpy --grid 4 --block 256 --arg 2.0 --arg arange:float32:1000
--arg zeros:float32:1000 --arg 1000 --annotate[/bold]

  [bold]simt profile kernels.cubin --kernel reduce --grid 2048 --block 512 --arg random:int32:2^20
--arg zeros:int32:2048 --arg 2^20 --out 1=sums.npy[/bold]

  [bold]simt profile kernels.cubin --kernel grayscale --grid 5,4 --block 16,16 --arg zeros:uint8:4712
--arg picture.npy --arg 76 --arg 62 --annotate[/bold]

  [bold]simt profile kernels.cubin --kernel blur --grid 64 --block 256 --arg picture.npy --symbol weights=weights.npy
--symbol scale=0.5[/bold]

Arguments, in order, one [bold]--arg[/bold] each:

  [bold]3, 0x10, -1, 2^20, 2.5, 1e-3, nan, true[/bold]: a number, as wide as the kernel's parameter, and of its type
if the name says that (C++). Else, as of extern "C", a float if it has a point or an exponent: write 2.0, not 2

  [bold]7u32, -1i64, 3f32, 2.5f64[/bold]: a number of that type: i, u or f and its bits

  [bold]zeros:int32:2^20[/bold]: an array of zeros; [bold]arange:float32:1000[/bold]: 0, 1, 2, ...

  [bold]random:int32:2^20:7[/bold]: integers from -128 to 127 (unsigned: 0 to 255), floats from 0 to 1, seed 7

  [bold]data.npy[/bold]: an array that NumPy saved

  [bold]texture:picture.npy,filter=linear,address=wrap/clamp,normalized=true[/bold]: a texture on a saved array; also
read=normalized, layered=true, channels=4, border=0.5

  [bold]surface:picture.npy,channels=4[/bold]: a surface on a saved array; --out saves it

  [bold]bytes:0100000002000000[/bold]: a structure passed by value, as hexadecimal bytes"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(grouped(profile))


def profile(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CUDA C (.cu), a cubin, a fat binary or a file that holds one, or a SASS listing."
        ),
    ],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="Without it, the kernels are listed.")] = None,
    grid: Annotated[Any, typer.Option(parser=parse_shape, metavar="X[,Y[,Z]]", help="Blocks of the grid.")] = None,
    block: Annotated[Any, typer.Option(parser=parse_shape, metavar="X[,Y[,Z]]", help="Threads of a block.")] = None,
    arg: Annotated[list[str] | None, typer.Option(metavar="VALUE", help="The next argument; see below.")] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(metavar="INDEX=FILE.npy", help="Save an array argument after the launch; the first is 0."),
    ] = None,
    symbol: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Set a __constant__ or __device__ variable: a number or FILE.npy."),
    ] = None,
    shared: Annotated[int, typer.Option(min=0, metavar="BYTES", help="Dynamic shared memory per block.")] = 0,
    listing: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Disassembly of the cubin; needed before sm_75.")
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(metavar="BYTES,...", help="Sizes of the kernel's parameters, for a listing without cubin."),
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option(metavar="sm_XX", help="Which code of a fat binary, executable or library; what to compile for."),
    ] = None,
    nvrtc: Nvrtc = None,
    annotate: Annotated[bool, typer.Option(help="Show the machine code beside its counts.")] = False,
    column: Columns = None,
    fold: Fold = True,
    trace: Annotated[
        str | None, typer.Option(metavar="BLOCK,WARP", help="Show what one warp does, lane by lane, instead.")
    ] = None,
    values: Annotated[bool, typer.Option("--values", help="With --trace, show the registers written, too.")] = False,
    order: Order = None,
    max_instructions: MaxInstructions = 2**28,
    threads: Threads = None,
    engine: Engine = "auto",
    model: TimingOptions,
    as_json: Json = False,
) -> None:
    """Execute a kernel of CUDA C or of a cubin: the counts of a profiler, without a GPU; with --timing its time, too.

    Needs the extra [bold]sass[/bold]: pip install 'simt\\[sass]'.
    """
    import simt
    from simt.cli import arguments
    from simt.profile.annotate import check_columns

    check_columns(column or (), timed=model.timing)
    if values and trace is None:
        raise typer.BadParameter("it applies to --trace; add --trace BLOCK,WARP", param_hint="--values")
    if kernel is None:
        launched = {"--grid": grid, "--block": block, "--arg": arg, "--out": out, "--trace": trace}
        for option in (name for name, given in launched.items() if given):
            raise typer.BadParameter("add --kernel NAME; without it the kernels are listed", param_hint=option)
        _list(_all_kernels(file, listing, arch, nvrtc or ()), as_json)
        return
    watched = None if trace is None else _pair(trace)
    sizes = None if parameters is None else {kernel: _numbers("--parameters", parameters)}
    found: SassKernel = machine_files.load(file, arch, nvrtc or (), listing, sizes)[kernel]
    if found.parameters is None:
        raise LaunchError(
            f"{file} is a listing and does not say what parameters {kernel} has",
            help="give their sizes with --parameters 8,8,4, or the cubin",
        )
    if grid is None or block is None:
        raise typer.BadParameter("a launch needs --grid and --block")
    args = arguments.parse(arg or (), [parameter.size for parameter in found.parameters], found.name)
    targets = _targets(out or (), args)
    for text in symbol or ():
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE, such as scale=2.5", param_hint="--symbol")
        arguments.set_variable(found.module[name], name, value)
    keywords = model.keywords
    with progress() as bar:
        counted = simt.launch(
            found, grid, block, *args,
            shared_bytes=shared, trace=watched or False, order=order, threads=threads,
            max_instructions=max_instructions, engine=engine, progress=bar.start(found.demangled), preview=preview,
            **keywords,
        )  # fmt: skip
    for index, path in targets.items():
        _save(path, _array(args[index]))
    if watched is not None:
        show(counted, *watched, values=values, as_json=as_json)
    elif as_json:
        typer.echo(counted.to_json(indent=2))
    else:
        say(counted)
        if annotate:
            typer.echo(f"\n{counted.annotate(column or None, fold=fold, width=columns())}")


def _all_kernels(file: Path, listing: Path | None, arch: str | None, nvrtc: Sequence[str]) -> list[Kernels]:
    """The kernels of a file, for every architecture that it has unless one is given."""
    from simt import sass

    several: list[str | None] = []
    if arch is None and file.is_file():
        several += sass.architectures(file)
    return [machine_files.load(file, each, nvrtc, listing) for each in several or [arch]]


def _list(found: Sequence[Kernels], as_json: bool) -> None:
    entries = [_described(kernel) for kernels in found for kernel in kernels.values()]
    if as_json:
        print_json(entries)
        return
    columns = ("kernel", "arch", "parameters (bytes)", "registers", "shared", "local", "mangled")
    rows = table("", *columns, left=("kernel", "arch", "parameters (bytes)", "mangled"), wrap=("mangled",))
    for entry in entries:
        sizes = entry["parameters"]
        rows.add_row(
            entry["name"],
            entry["view"],
            "unknown" if sizes is None else " ".join(map(str, sizes)) or "none",
            "unknown" if entry["registers"] is None else str(entry["registers"]),
            str(entry["shared_bytes"]),
            str(entry["local_bytes"]),
            entry["mangled"],
        )
    show_table(rows)
    for template in dict.fromkeys(name for kernels in found for name in kernels.templates):
        typer.echo(f"{template} is a template: name an instance, such as --kernel '{template}<512>'")


def _described(kernel: SassKernel) -> dict[str, Any]:
    parameters = kernel.parameters
    return {
        "name": kernel.demangled,
        "mangled": kernel.name,
        "view": f"sm_{kernel.architecture}",
        "parameters": None if parameters is None else [parameter.size for parameter in parameters],
        "registers": kernel.registers,
        "shared_bytes": kernel.shared_bytes,
        "local_bytes": kernel.frame_bytes,
        "required_block": kernel.required_block,
    }


def _numbers(option: str, text: str, most: int | None = None) -> tuple[int, ...]:
    """``8192`` or ``64,64,1``; ``x`` may stand for the comma."""
    parts = re.split(r"\s*[,x]\s*", text.strip())
    if not all(part.isdecimal() for part in parts) or (most is not None and len(parts) > most):
        example = "8192 or 64,64" if most else "8,8,4"
        raise typer.BadParameter(f"{text!r} is not of the form {example}", param_hint=option)
    return tuple(map(int, parts))


def _pair(text: str) -> tuple[int, int]:
    numbers = _numbers("--trace", text, 2)
    if len(numbers) != 2:
        raise typer.BadParameter(f"{text!r} is not BLOCK,WARP, such as 0,0", param_hint="--trace")
    return numbers[0], numbers[1]


def _targets(texts: Sequence[str], args: Sequence[Any]) -> dict[int, Path]:
    """Argument to file; checked before the launch, which may take long."""
    found = {}
    for text in texts:
        index, equals, path = text.partition("=")
        if not equals or not index.isdecimal() or not path:
            raise typer.BadParameter(f"{text!r} is not INDEX=FILE.npy, such as 1=sums.npy", param_hint="--out")
        if int(index) >= len(args) or getattr(_array(args[int(index)]), "ndim", 0) == 0:
            raise LaunchError(f"argument {index} is not an array and cannot be saved", help="the first argument is 0")
        check_writable(Path(path))
        found[int(index)] = Path(path)
    return found


def _array(argument: Any) -> Any:
    """The array of a texture or surface; other arguments as they are."""
    return getattr(argument, "array", argument)


def _save(path: Path, array: Any) -> None:
    import numpy as np

    try:
        with path.open("wb") as file:
            np.save(file, array)
    except OSError as error:
        raise LaunchError(f"{path} cannot be written: {error.strerror}") from None
