#!/usr/bin/python3 -IS
"""Whether a cubin is whole, without a GPU: check_cubin.py CUBIN"""
import struct
import sys

cubin = open(sys.argv[1], "rb").read()
if len(cubin) < 64 or cubin[:6] != b"\x7fELF\x02\x01":
    sys.exit(f"{sys.argv[1]}: not a 64-bit ELF file ({len(cubin)} bytes)")
_, machine = struct.unpack_from("<HH", cubin, 16)
segments, sections = struct.unpack_from("<QQ", cubin, 32)
segment_size, segment_count, section_size, section_count, names = struct.unpack_from("<5H", cubin, 54)
if machine != 190:  # EM_CUDA
    sys.exit(f"{sys.argv[1]}: built for machine {machine}, not for CUDA")
ends = [segments + segment_size * segment_count, sections + section_size * section_count]
if max(ends) <= len(cubin):
    for i in range(section_count):
        kind, _, _, offset, size = struct.unpack_from("<IQQQQ", cubin, sections + section_size * i + 4)
        if kind != 8:  # SHT_NOBITS
            ends.append(offset + size)
if max(ends) > len(cubin):
    sys.exit(f"{sys.argv[1]}: torn, {len(cubin)} of {max(ends)} bytes")
if b".text.axpy" not in cubin:
    sys.exit(f"{sys.argv[1]}: no kernel axpy in it")
print(f"axpy.cubin is whole, {len(cubin)} bytes")
