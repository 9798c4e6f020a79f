"""Textures and surfaces."""

from __future__ import annotations

from simt.ops.row import Effect, Family, Kind, Table

TABLE = Table("image", Family.IMAGE, Kind.IMAGE, 0, effects=Effect.FAILS)

TABLE.declare(
    """
    tex     rrrr  texture  loads         d = texture b at floats a (x, y, z, layer), c offsets; imm: texture_form
    tld     rrrr  texture  loads         d = texel of texture b at integers a, likewise
    tld4    rrrr  texture  loads         d = one component of the four texels that a linear filter would take, likewise
    txq     r-r-  texture  -             d = width, height, depth, levels of texture b; imm: texture_form
    suld    rrr   texture  loads         d = surface b at integers a; mod = MEMORY_TYPES; imm: surface_form
    sust    -rrr  texture  stores        surface b at integers a = c, likewise
    suatom  rrrr  texture  loads+stores  d = old surface b at integers a, updated as atom does, c operands; mod as there
    """
)
