"""One launch of compiled code on a modelled GPU: functional, and timed if that is asked for."""

from __future__ import annotations

from simt import devices, machine, runtime
from simt.calls.code import Code, Shape
from simt.calls.options import Options
from simt.devices import DeviceError, Gpu
from simt.machine import checks
from simt.profile import Profile


def gpu_for(key: str | None, view: str, timing: bool) -> Gpu:
    """The modelled GPU.  DeviceError if it is unknown or cannot run the code."""
    gpu = devices.get(key) if key else devices.default_for(view)
    if not gpu.runs(view) and (key or timing):
        able = [name for name in devices.names() if devices.get(name).runs(view)]
        raise DeviceError(
            f"{gpu.name} ({gpu.architecture}) does not run {view} code",
            help=f"choose {', '.join(able)}" if able else "there is no device file for it; the source view runs on any",
        )
    return gpu


def run(
    code: Code, shape: Shape, options: Options, gpu: Gpu, context: runtime.Context | None = None, keep: bool = False
) -> Profile:
    """Run a launch in *context* (default: the module's, or one that holds nothing else) and return its profile.

    *keep*: after an error device memory is as the kernel left it (:meth:`simt.runtime.Context.run`).
    """
    what = machine.Launch(
        grid=shape[0],
        block=shape[1],
        arguments=code.arguments,
        shared_bytes=options.shared_bytes,
        order=code.own_order if options.order is None else options.order,
        threads=options.threads,
        trace=options.trace,
        max_instructions=options.max_instructions,
        checks=checks.names_of(options.check),
        whole_buffers=code.whole_buffers,
        bank_image=code.bank_image,
        progress=options.progress,
    )
    place = context or code.context
    notes = [*code.notes, *(f"{name} found nothing" for name in what.checks)]
    if not options.timing:
        result = runtime.run(code.program, what, place, keep=keep)
        return Profile(code.program, result, device=gpu.key, notes=notes)

    from simt.timing import TimedRun  # here: a launch without timing does not load the model

    model = TimedRun(code.program, what, gpu, code.instructions, options.timed)
    result = runtime.run(code.program, what, place, model, keep)
    return Profile(code.program, result, device=gpu.key, timing=model.result, notes=notes)
