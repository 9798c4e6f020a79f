"""The ways in which the workers of a launch run its blocks: one after the other, all together, or under a schedule."""

from __future__ import annotations

from simt.machine import layout
from simt.machine.rotation import Rotation
from simt.machine.schedule import PAUSES, Resident
from simt.machine.start import start_block
from simt.machine.syscalls import uneven
from simt.machine.team import Begun, Team

JUDGED_TURNS = 256
"""The watch gets its events after this many turns of a schedule."""


def one_after_the_other(team: Team, worker: int, state: layout.State, begun: Begun) -> None:
    """Run blocks until none are left; *begun*: the one already under way in *state*, and the number of the next."""
    while True:
        first, end = begun or team.take()
        resumed = begun is not None  # within a round of the warps: only a whole one without progress is a deadlock
        begun = None
        if first >= end:
            team.leave()
            team.judged(worker, state)
            return
        status, block = team.run_told(worker, first, end, state, False, team.patience)
        if status == layout.DEADLOCK and resumed:
            status, block = team.run_told(worker, block, end, state, True, team.patience)
        if status == layout.STOPPED or team.note_failure(status, block, state):
            return
        with team.lock:
            team.finished += min(block, end) - first
            if block + 1 < end:
                team.spans.insert(0, (block + 1, end))
        if status == layout.INTERRUPTED and not _in_turns(team, worker, state, block):
            return


def _in_turns(team: Team, worker: int, state: layout.State, block: int) -> bool:
    """Run a block that may wait for others in turns with the next ones; whether all of them have ended well."""
    rotation = Rotation(team.prepared.device, team.prepared.launch.max_instructions)
    rotation.add(block, state)
    free: list[layout.State] = []
    while rotation.running:
        beside = team.next_beside()
        if beside is not None:
            rotation.add(beside, free.pop() if free else team.another(state))
        block, running, until = rotation.next()
        status, _ = team.run_told(worker, block, block + 1, running, False, until)
        if status == layout.STOPPED or team.note_failure(status, block, running):
            return False
        if status == layout.INTERRUPTED:
            rotation.went_on()
            continue
        free.append(rotation.ended())
        if rotation.running:
            team.leave()
        with team.lock:
            team.finished += 1
    return True


def together(team: Team, worker: int, state: layout.State, begun: Begun) -> None:
    """Run the blocks in turns, from one barrier of the grid to the next."""
    reached = [layout.PAUSED] * team.blocks
    running = list(range(team.blocks))
    while running:
        for block in running:
            state = team.states[block]
            status, _ = team.run_told(0, block, block + 1, state)
            if status == layout.STOPPED or team.note_failure(status, block, state):
                return
            reached[block] = status
        running = [block for block in running if reached[block] == layout.PAUSED]
        if running:
            continue
        running = [block for block in range(team.blocks) if reached[block] == layout.CALLED]
        if 0 < len(running) < team.blocks:
            ended = reached.index(layout.DONE)
            team.keep(ended, uneven(team.prepared, team.states[running[0]], ended))
            return
        if team.prepared.launch.watch is not None:
            team.prepared.launch.watch.meet_grid()
    team.finished = team.blocks


def scheduled(team: Team, worker: int, state: layout.State, begun: Begun) -> None:
    """Run as many blocks together as are resident, in the turns of a schedule."""
    assert team.turns is not None
    resident = Resident(team.states)
    for slot in range(len(team.states)):
        _start_next(team, resident, slot)
    count = 0
    while team.stop[0] == PAUSES:
        if not resident.ready.any():
            if not _go_on(team, resident):
                return
            continue
        (slot, warp), length = team.turns.next(resident.ready)
        count += 1
        if not _turn(team, resident, slot, warp, length, judge=count % JUDGED_TURNS == 0):
            return


def _start_next(team: Team, resident: Resident, slot: int) -> None:
    """Start the next block of the grid in a state, if there is one."""
    block, end = team.take(1)
    if block < end:
        start_block(block, team.states[slot])
        resident.began(slot, block)


def _turn(team: Team, resident: Resident, slot: int, warp: int, length: int, judge: bool) -> bool:
    """Run a warp for at most *length* micro-ops; False if that ended the launch."""
    state, block = team.states[slot], resident.blocks[slot]
    assert block is not None
    state.LAUNCH[layout.LAUNCH_NEXT_WARP] = warp
    state.WARPS[warp * layout.N_WARP + layout.W_QUANTUM] = length
    status, _ = team.run_told(0, block, block + 1, state, judge)
    if block in team.failed or team.note_failure(status, block, state):
        return False
    if status == layout.CALLED:
        resident.held.add((slot, warp))
    resident.look(slot)
    if resident.has_ended(slot):
        resident.ended(slot)
        team.finished += 1
        _start_next(team, resident, slot)
    return True


def _go_on(team: Team, resident: Resident) -> bool:
    """No warp can run: release those that wait for the whole grid.  False if the launch has ended."""
    running = list(resident.running())
    held = {slot for slot, _ in resident.held}
    stuck = [(slot, block) for slot, block in running if slot not in held]
    if team.judged(0, team.states[0]):
        return False
    if stuck:
        team.note_failure(layout.DEADLOCK, stuck[0][1], team.states[stuck[0][0]])
    elif running and team.finished:
        ended = next(block for block in range(team.blocks) if block not in resident.blocks)
        team.keep(ended, uneven(team.prepared, team.states[running[0][0]], ended))
    elif running:
        if team.prepared.launch.watch is not None:
            team.prepared.launch.watch.meet_grid()
        resident.release()
        return True
    return False
