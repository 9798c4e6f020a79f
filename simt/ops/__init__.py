"""Micro-ops, the ground floor: what each one takes, does and means, declared once; nothing here knows of warps.

One row a micro-op (:mod:`simt.ops.row`), a table a file: :mod:`integer <simt.ops.integer>`,
:mod:`float32 <simt.ops.float32>`, :mod:`memory <simt.ops.memory>`, ...  :mod:`simt.ops.table` has all of them by name,
:mod:`simt.ops.encoding` the numbers that ``imm`` and ``mod`` carry.
"""
