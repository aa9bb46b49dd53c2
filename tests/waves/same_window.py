"""same_window.py A.vcd B.vcd: the waves of the same commands, in runs whose RTL began at different submissions.

The files (fst2vcd) must have the same signals, and each signal the same values at the same cycles of the window. Two
things may differ, as registers without a reset keep what earlier commands left in them: a signal before its first
change in the window, and the signals of FREE, which are read only while a valid signal beside them is high. A bank's
address and data must be equal while it is written. Prints what was compared; exit status 1 after a difference.
"""

import bisect
import re
import sys

FREE = re.compile(r"""\.( cmd_ready(_o)? | cmd_index(_i)? | done_cmd_o | req_(addr|len)(_i)? | load_ready | (near_)?ptr_q
    | region(_i)? | region_(base|limit)(_o)? | fault_(code|cmd|addr)(_[ioq])? | first | run_addr | runs_out | next_piece
    | u_walk\.tag_i | u_runs\.data_i | waddr | wdata | be )(\.?\[.*)?$""", re.X)


def read(path):
    """Names and changes by identifier: [(time since the window began, value)]."""
    names, scope, changes, now, begin = {}, [], {}, 0, None
    with open(path, encoding="ascii") as f:
        for line in f:
            word = line.split() or [" "]
            if word[0] == "$scope":
                scope.append(word[2])
            elif word[0] == "$upscope":
                scope.pop()
            elif word[0] == "$var":
                names.setdefault(word[3], ".".join(scope + word[4:-1]))
            elif line[0] == "#":
                now = int(word[0][1:])
                begin = now if begin is None else begin
            elif line[0] in "01xz":
                changes.setdefault(line[1:].strip(), []).append((now - begin, line[0]))
            elif line[0] in "br":
                changes.setdefault(word[1], []).append((now - begin, word[0][1:]))
    return names, changes


def at(changes, time):
    """The value at a time."""
    i = bisect.bisect_right(changes, time, key=lambda change: change[0])
    return changes[i - 1][1] if i else None



def same(a, b):
    """Equal from the first change that either has in the window; a change to the same value is none."""
    times = sorted({change[0] for change in a[1:] + b[1:]})
    return all(at(a, time) == at(b, time) for time in times)


def writes(names, changes):
    """{bank: [(time, address, bytes, data)]}, at the changes of a bank's signals while it is written."""
    by_name = {name.split(".[")[0]: changes.get(i, []) for i, name in names.items()}
    enable = next(by_name[name] for name in by_name if name.endswith("u_spad.bank_we"))
    found = {}
    for name in by_name:
        bank = re.search(r"u_spad\.gen_bank\[(\d+)\]\.waddr$", name)
        if not bank:
            continue
        parts = [by_name[name[:-len("waddr")] + part] for part in ("waddr", "be", "wdata")]
        times = sorted({change[0] for part in [enable] + parts for change in part})
        found[name] = [(time, *(at(part, time) for part in parts)) for time in times
                       if re.fullmatch("[01]+", at(enable, time) or "") and int(at(enable, time), 2) >> int(bank[1]) & 1]
    return found


def main():
    (names, a), (other_names, b) = read(sys.argv[1]), read(sys.argv[2])
    if names != other_names or not names:
        sys.exit("the files have other signals")
    compared = [i for i in names if not FREE.search(names[i])]
    wrong = [names[i] for i in compared if not same(a.get(i, []), b.get(i, []))]
    banks, other_banks = writes(names, a), writes(names, b)
    wrong += [name for name in banks if banks[name] != other_banks[name]]
    n_write = sum(len(bank) for bank in banks.values())
    print(f"{len(names)} signals, {len(compared)} compared, {n_write} writes of {len(banks)} banks, {len(wrong)} differ: "
          f"{' '.join(wrong[:5])}")
    sys.exit(bool(wrong) or len(compared) < 0.9 * len(names) or n_write == 0)


main()
