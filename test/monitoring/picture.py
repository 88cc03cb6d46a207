"""A dashboard as a picture: SVG, about as Grafana draws it on white."""

import math
import textwrap
from dataclasses import dataclass
from xml.etree import ElementTree

from .dashboard import Dashboard, Panel, Series
from .prometheus import INTERVAL

COLUMN, ROW, GAP, HEAD = 50, 30, 8, 40  # pixels: Grafana's units, between two panels, and above the first
COLOURS = ("#56a64b", "#e0b400", "#3274d9", "#ff780a", "#e02f44", "#8f3bb8", "#1f9e9e", "#a0522d", "#c15c92", "#6b7280")
INK, FAINT, FRAME = "#24292e", "#6e7681", "#dcdfe3"
LEFT, RIGHT, TITLE_LINE = 58, 12, 13  # left and right of a plot within its panel, above it
LEGEND_LINE, LEGEND_LINES, CHARACTER = 15, 3, 6.2  # pixels, lines, pixels
TICKS = 4
MIB = 1024 ** 2


def draw(dashboard: Dashboard, begin: float, end: float) -> bytes:
    width = 24 * COLUMN
    height = HEAD + max(panel.place["y"] + panel.place["h"] for panel in dashboard.panels) * ROW
    page = ElementTree.Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}", "font-size": "11",
        "font-family": "Inter, Helvetica, Arial, sans-serif", "role": "img", "aria-label": dashboard.title})
    _add(page, "rect", width=width, height=height, fill="#f4f5f5")
    _write(page, GAP, 26, dashboard.title, size=17, weight="bold")
    for panel in dashboard.panels:
        x, y = panel.place["x"] * COLUMN + GAP / 2, panel.place["y"] * ROW + HEAD
        w, h = panel.place["w"] * COLUMN - GAP, panel.place["h"] * ROW - GAP
        group = _add(page, "g", transform=f"translate({_short(x)} {_short(y)})")
        _add(group, "rect", width=w, height=h, fill="#fff", stroke=FRAME)
        upper = _title(group, panel.title, w)
        if not any(series.points for series in panel.series):
            _write(group, w / 2, h / 2 + 8, "No data", colour=FAINT, anchor="middle", size=14)
        elif panel.kind == "stat":
            _stat(group, panel, w, h)
        else:
            _plot(group, panel, Frame(w, h, upper, begin, end))
    ElementTree.indent(page, "")
    return ElementTree.tostring(page) + b"\n"


# ---- the parts of a panel ----


def _title(group: ElementTree.Element, title: str, width: float) -> float:
    """Where there is room below it."""
    lines = textwrap.wrap(title, int((width - 16) / CHARACTER))
    for i, line in enumerate(lines):
        _write(group, 8, 17 + TITLE_LINE * i, line, weight="bold")
    return 21 + TITLE_LINE * len(lines)


def _stat(group: ElementTree.Element, panel: Panel, width: float, height: float) -> None:
    """The last value of each series, with its name if there are several."""
    shown = [series for series in panel.series if series.points]
    for i, series in enumerate(shown):
        value = series.points[-1][1]
        bad = value >= panel.red.get("above", math.inf) or value < panel.red.get("below", -math.inf)
        x = width * (i + 0.5) / len(shown)
        text = series.legend if panel.names else _value(value, panel.unit, panel.decimals)
        _write(group, x, height / 2 + 24, text, colour="#c4162a" if bad else "#37872d", size=30, anchor="middle")
        if len(shown) > 1 and not panel.names:
            _write(group, x, height - 8, series.legend, colour=FAINT, anchor="middle")


@dataclass(frozen=True)
class Frame:
    """Of a plot: the size of its panel, where its title ends, and the time."""

    width: float
    height: float
    upper: float
    begin: float
    end: float


def _plot(group: ElementTree.Element, panel: Panel, frame: Frame) -> None:
    lower = frame.height - _legends(group, panel.series, frame.width, frame.height) - 20
    right = frame.width - RIGHT
    unit = _tick(max(value for series in panel.series for _, value in series.points), panel.unit)
    units = max(1, *(math.ceil(value / unit) for series in panel.series for _, value in series.points))

    def place(time: float, value: float) -> tuple[float, float]:
        return (LEFT + (time - frame.begin) / (frame.end - frame.begin) * (right - LEFT),
                lower - value / unit / units * (lower - frame.upper))

    for i in range(units + 1):
        y = place(frame.begin, i * unit)[1]
        _add(group, "path", d=f"M{LEFT} {_short(y)}H{right}", stroke=FRAME)
        _write(group, LEFT - 5, y + 4, _value(i * unit, panel.unit), colour=FAINT, anchor="end", size=10)
    for minute in range(int((frame.end - frame.begin) / 60) + 1):
        x = place(frame.begin + 60 * minute, 0)[0]
        _write(group, x, lower + 14, f"{minute} min", colour=FAINT, anchor="middle", size=10)
    for i, series in enumerate(panel.series):
        _line(group, [place(*point) for point in series.points], series, COLOURS[i % len(COLOURS)])


def _line(group: ElementTree.Element, points: list[tuple[float, float]], series: Series, colour: str) -> None:
    """With a gap where nothing was read, and a dot where a value is alone."""
    path = ""
    for i, (x, y) in enumerate(points):
        after_gap = i == 0 or series.points[i][0] - series.points[i - 1][0] > INTERVAL
        before_gap = i + 1 == len(points) or series.points[i + 1][0] - series.points[i][0] > INTERVAL
        level = not after_gap and not before_gap and points[i - 1][1] == y == points[i + 1][1]
        if after_gap and before_gap:
            _add(group, "circle", cx=_short(x), cy=_short(y), r=1.5, fill=colour)
        elif not level:
            path += f"{'M' if after_gap else 'L'}{_short(x)} {_short(y)}"
    if path:
        _add(group, "path", d=path, fill="none", stroke=colour)


def _legends(group: ElementTree.Element, all_series: list[Series], width: float, height: float) -> float:
    """Below the plot, as far as there is room; how high they are."""
    lines, x = [[]], 0.0
    for i, series in enumerate(all_series):
        length = (len(series.legend) + 4) * CHARACTER
        if x and x + length > width - 16:
            lines.append([])
            x = 0.0
        lines[-1].append((8 + x, series.legend, COLOURS[i % len(COLOURS)]))
        x += length
    for number, line in enumerate(lines[:LEGEND_LINES]):
        y = height - 7 - LEGEND_LINE * (min(len(lines), LEGEND_LINES) - 1 - number)
        for x, legend, colour in line:
            _add(group, "rect", x=_short(x), y=_short(y - 5), width=10, height=3, fill=colour)
            _write(group, x + 14, y, legend, colour=FAINT)
    return min(len(lines), LEGEND_LINES) * LEGEND_LINE


# ---- values ----


def _tick(highest: float, unit: str) -> float:
    """1, 2 or 5 times a power of ten, of which four or so make the highest."""
    scale = MIB if unit == "bytes" else 1
    least = (highest / scale or 1) / TICKS
    power = 10 ** math.floor(math.log10(least))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= least * 0.999) * scale


def _value(value: float, unit: str, decimals: int | None = None) -> str:
    match unit:
        case "s" if 0 < value < 1:
            return f"{value * 1000:.3g} ms"
        case "s":
            return f"{value:.3g} s"
        case "ops":
            return f"{value:.3g}/s"
        case "percentunit":
            return f"{value * 100:.3g} %"
        case "bytes":
            return f"{value / MIB:.4g} MiB"
        case "none":
            return f"{value:.6g}" if decimals is None else f"{value:.{decimals}f}"
    raise ValueError(f"unit {unit}: not drawn yet")


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


# ---- SVG ----


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _write(parent: ElementTree.Element, x: float, y: float, text: str, colour: str = INK, anchor: str = "start", size: int = 11,
           weight: str = "normal") -> None:
    chosen = {"fill": colour}
    if anchor != "start":
        chosen["text-anchor"] = anchor
    if size != 11:
        chosen["font-size"] = str(size)
    if weight != "normal":
        chosen["font-weight"] = weight
    _add(parent, "text", x=_short(x), y=_short(y), **chosen).text = text
