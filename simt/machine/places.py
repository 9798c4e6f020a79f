"""Places in the words of messages: lines and instructions, threads, allocations."""

from __future__ import annotations

from simt.check import Location, lanes_text
from simt.machine.prepared import Prepared
from simt.program import Instruction, ListingLine


def locate(prepared: Prepared, pc: int) -> Location:
    """Where micro-op *pc* stands in the user's code: the line, for machine code if the cubin knows it."""
    program = prepared.program
    instruction = program.instructions[pc]
    line = program.listing[instruction.line]
    if program.view == "source":
        return Location(
            line.file or program.file, line.number, instruction.column, line.function or program.name, line.text
        )
    if line.source is not None:
        return Location(*line.source, function=program.name)
    return Location(program.file, line.number, 0, program.name, _machine_text(line))


def _machine_text(line: ListingLine) -> str:
    return f"{line.number:#06x}  {line.text}"


def place_of(prepared: Prepared, pc: int) -> str:
    """The line or machine instruction of micro-op *pc*, in the words of a detail."""
    line = prepared.program.listing[prepared.program.instructions[pc].line]
    if prepared.program.view != "source":
        return _machine_text(line)
    return f"line {line.number}: {line.text.strip()}"


def where(prepared: Prepared, block: int, warp: int, mask: int) -> str:
    """``block (3, 0, 0), warp 2, lanes 5-7 (threads (69, 0, 0) ...)``."""
    gx, gy, _ = prepared.launch.grid
    coordinates = (block % gx, block // gx % gy, block // (gx * gy))
    lanes = "lane" if mask.bit_count() == 1 else "lanes"
    text = f"block {coordinates}, warp {warp}, {lanes} {lanes_text(mask)}"
    if mask:
        thread = warp * 32 + (mask & -mask).bit_length() - 1
        bx, by, _ = prepared.launch.block
        text += (
            f" ({'' if lanes == 'lane' else 'first: '}thread {(thread % bx, thread // bx % by, thread // (bx * by))})"
        )
    return text


def access_text(instruction: Instruction) -> str:
    kind = instruction.op.split(".")[0]
    kinds = {"ld": "read", "st": "write", "atom": "atomic", "suld": "read", "sust": "write", "suatom": "atomic"}
    return kinds.get(kind, "access")


def with_article(instruction: Instruction) -> str:
    text = access_text(instruction)
    return f"an {text}" if text[0] == "a" else f"a {text}"


def holder(prepared: Prepared, instruction: Instruction, address: int) -> list[str]:
    """The allocation that holds a global address, and where in it."""
    if ".shared" in instruction.op:
        return []
    memory = prepared.memory
    for name, start, end in zip(memory.names, memory.starts, memory.ends, strict=True):
        if start <= address < end:
            return [f"`{name}`, byte {address - int(start)} of {int(end - start)}"]
    return []
