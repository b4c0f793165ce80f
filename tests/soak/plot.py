"""Draws what the soak test's programs held: memory, open files and threads over time."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence

WIDTH, HEIGHT = 1000, 650
LEFT, RIGHT, GAP = 70, 130, 46
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
STYLE = """
text { font: 13px Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933 }
.title { font-size: 18px; font-weight: 700 } .quiet { fill: #5b6874 }
.paper { fill: #ffffff } .grid { stroke: #d5dbe1 } path { fill: none; stroke-width: 1.8 }
"""
Sample = Sequence[float]
PANELS: tuple[tuple[str, int, Callable[[Sample], float]], ...] = (
    ("resident memory, MiB", 300, lambda sample: sample[2] / (1 << 20)),
    ("open files", 80, lambda sample: sample[3]),
    ("threads", 80, lambda sample: sample[4]),
)


def _panel(
    top: float, height: int, title: str, curves: Mapping[str, list[tuple[float, float]]], end: float
) -> list[str]:
    most = max((value for curve in curves.values() for _, value in curve), default=1) * 1.1
    across = (WIDTH - LEFT - RIGHT) / end
    parts = [f'<text x="{LEFT}" y="{top - 8:.0f}">{title}</text>']
    for part in range(3):
        y = top + height * (1 - part / 2)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        label = f"{most * part / 2:.0f}"
        parts.append(f'<text class="quiet" text-anchor="end" x="{LEFT - 8}" y="{y + 4:.1f}">{label}</text>')
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        points = [f"{LEFT + x * across:.1f} {top + height * (1 - y / most):.1f}" for x, y in curve]
        parts.append(f'<path stroke="{colour}" d="M{"L".join(points)}"><title>{name}</title></path>')
    return parts


def draw(samples: Mapping[str, Sequence[Sample]], out: pathlib.Path) -> None:
    samples = {name: taken for name, taken in samples.items() if taken}
    end = max((taken[-1][0] for taken in samples.values()), default=1) or 1
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>What the soaked programs held</title><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="30">{end / 60:.0f} minutes of mixed load</text>',
    ]
    top = 76.0
    for title, height, value in PANELS:
        curves = {name: [(sample[0], value(sample)) for sample in taken] for name, taken in samples.items()}
        parts += _panel(top, height, title, curves, end)
        top += height + GAP
    for number, (name, colour) in enumerate(zip(samples, COLOURS, strict=False)):
        y = 90 + 22 * number
        parts.append(f'<path stroke="{colour}" d="M{WIDTH - RIGHT + 16} {y}h24"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 46}" y="{y + 4}">{name}</text>')
    out.write_text("\n".join([*parts, "</svg>", ""]))
