"""What a run released, as values that show themselves in a notebook."""

import html
import math
import os


def number(x):
    """A number of a statement: "inf" and null stand for what JSON lacks."""
    return math.nan if x is None else float(x)


class Score(float):
    """The released score: accuracy (a fraction of 1), or mean absolute error (units of the target).

    ``interval`` and ``baseline_interval`` hold the true values in 95 % of cases; ``baseline`` is that of the most
    frequent class or the mean; ``how`` says where it comes from; ``all`` is the statement's whole section."""

    def __new__(cls, section):
        s = super().__new__(cls, number(section["value"]))
        s.all = section
        s.metric, s.how = section["metric"], section["how"]
        s.interval = tuple(number(x) for x in section["interval"])
        s.baseline = number(section["baseline"])
        s.baseline_interval = tuple(number(x) for x in section.get("baseline_interval") or (None, None))
        return s

    def __reduce__(self):
        return Score, (self.all,)


class Report:
    """The report as one HTML page, ready to print. It shows itself in a notebook."""

    def __init__(self, page):
        self.html = page

    def save(self, path):
        """Writes the page to a file."""
        with open(os.path.expanduser(os.fspath(path)), "w", encoding="utf-8") as f:
            f.write(self.html)

    def __repr__(self):
        return f"<report of pawl, {len(self.html)} characters of HTML; .save(path) writes it>"

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.html)}" title="pawl report" style="width:100%;height:40em;border:1px solid #888"></iframe>'


def rows(pairs, caption):
    """A small table of facts as HTML."""
    body = "".join(f'<tr><th scope="row" style="text-align:left">{html.escape(k)}</th><td style="text-align:left">{html.escape(v)}</td></tr>' for k, v in pairs)
    return f'<table><caption style="text-align:left">{html.escape(caption)}</caption>{body}</table>'


def claim(s):
    """The claim in words."""
    p = s["privacy"]
    if s["not_private"]:
        return "NOT PRIVATE"
    return f'epsilon {p["epsilon_asked"] or p["epsilon"]}, delta {p["delta"]:g}, unit {p["unit"]}, {p["relation"].replace("_", " ")}'


def facts(s):
    """What a statement says first, as pairs of words."""
    out = [("Privacy", claim(s))]
    if s.get("score"):
        sc = Score(s["score"])
        low, high = sc.interval
        if sc.metric == "accuracy":
            out += [("Accuracy", f"{100 * sc:.1f} % ({100 * low:.1f} to {100 * high:.1f}), {sc.how}"), ("Most frequent class", f"{100 * sc.baseline:.1f} %")]
        else:
            out += [("Mean absolute error", f"{sc:.6g} ({low:.6g} to {high:.6g}), {sc.how}"), ("Of the mean", f"{sc.baseline:.6g}")]
        if s["score"].get("verdict"):
            out.append(("Verdict", s["score"]["verdict"]))
    b = s["budget"]
    left = number(b["left"]["epsilon"])
    out += [("Data set", f'{b["dataset"]}, entry {b["entry"]}'), ("Left", "not limited" if math.isinf(left) else f"epsilon {left:.4g}")]
    return out + [("Warning", w) for w in s["warnings"]]
