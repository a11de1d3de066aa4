#!/usr/bin/env python3
"""Writes framework/core/text_tables.inc from the Unicode data that Python carries.

usage: scripts/unicode_tables.py > framework/core/text_tables.inc
"""
import unicodedata


def ranges(wanted):
    start = None
    for point in range(0x110001):
        inside = point < 0x110000 and wanted(point)
        if inside and start is None:
            start = point
        elif not inside and start is not None:
            yield start, point - 1
            start = None


def is_hidden(point):
    """Shown as nothing, moves text about, or ends a line: escaped before it is shown."""
    category = unicodedata.category(chr(point))
    blank_fillers = (0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0)
    return category in ("Cc", "Cf", "Zl", "Zp", "Co") or point in blank_fillers or (
        point & 0xFFFE) == 0xFFFE or 0xFDD0 <= point <= 0xFDEF


def is_zero_width(point):
    return unicodedata.category(chr(point)) in ("Mn", "Me") or 0x1160 <= point <= 0x11FF


def is_wide(point):
    if is_zero_width(point):
        return False
    # Unassigned points of the CJK blocks are wide as well (UAX 11).
    if 0x3400 <= point <= 0x4DBF or 0x4E00 <= point <= 0x9FFF or 0xF900 <= point <= 0xFAFF:
        return True
    if 0x20000 <= point <= 0x2FFFD or 0x30000 <= point <= 0x3FFFD:
        return True
    return unicodedata.east_asian_width(chr(point)) in ("W", "F")


print(f"// Made by scripts/unicode_tables.py from Unicode {unicodedata.unidata_version}. "
      "Do not edit.")
for name, wanted in (("kHidden", is_hidden), ("kZeroWidth", is_zero_width), ("kWide", is_wide)):
    print(f"constexpr Range {name}[] = {{")
    line = "   "
    for first, last in ranges(wanted):
        item = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(item) > 100:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")
