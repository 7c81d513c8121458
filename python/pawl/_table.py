"""Tables as CSV, and their declarations as a schema. Nothing of a declaration comes from rows."""

import csv
import datetime
import io
import json
import math
import numbers
import os
import re

from .errors import UsageError

PREFIX = "x"  # names of the columns of an array: x0, x1, ...


def _module(value, name):
    return any(t.__module__.split(".")[0] == name for t in type(value).__mro__)


def is_frame(x):
    return _module(x, "pandas") and hasattr(x, "columns")


class Table:
    """Columns of equal length, by name. ``kinds`` has "boolean" where the type of a column says so."""

    def __init__(self, names, columns, kinds=None, frame=None, rows=None):
        self.names, self.columns, self.kinds, self.frame = names, columns, kinds or {}, frame
        self.rows = rows if rows is not None else len(frame) if frame is not None else len(columns[0]) if columns else 0

    @classmethod
    def of(cls, x):
        """A frame, an array of two dimensions, a list of rows, or a mapping of names to columns."""
        if is_frame(x):
            names = [str(c) for c in x.columns]
            kinds = {n: "boolean" for n, t in zip(names, x.dtypes) if str(t) in ("bool", "boolean")}
            return cls._checked(cls(names, None, kinds, x))
        if hasattr(x, "toarray") and hasattr(x, "nnz"):
            raise TypeError("A sparse matrix was passed, but dense data is required. Use X.toarray() to convert to a dense array.")
        if isinstance(x, dict):
            columns = [_values(c) for c in x.values()]
            if len({len(c) for c in columns}) > 1:
                raise ValueError("the columns have different lengths: " + str([len(c) for c in columns]))
            return cls._checked(cls([str(n) for n in x], columns))
        if hasattr(x, "__array__") and not hasattr(x, "tolist"):
            import numpy
            x = numpy.asarray(x)
        dtype = getattr(x, "dtype", None)
        if dtype is not None and getattr(dtype, "kind", "") == "c":
            raise ValueError("Complex data not supported: a column holds real numbers, texts or dates")
        shape = getattr(x, "shape", None)
        rows = x.tolist() if hasattr(x, "tolist") else [list(r) if hasattr(r, "__iter__") and not isinstance(r, str) else r for r in x]
        if shape is None:
            if rows and not isinstance(rows[0], list):
                shape = (len(rows),)
            elif any(not isinstance(r, list) or len(r) != len(rows[0]) for r in rows):
                raise ValueError("setting an array element with a sequence: the rows have different lengths")
            else:
                shape = (len(rows), len(rows[0]) if rows else 0)
        if len(shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(shape)}D array instead. Reshape your data either using "
                             "X.reshape(-1, 1) if it has a single column, or X.reshape(1, -1) if it is a single row.")
        names = [f"{PREFIX}{i}" for i in range(shape[1])]
        kinds = {n: "boolean" for n in names} if getattr(dtype, "kind", "") == "b" else {}
        return cls._checked(cls(names, [list(c) for c in zip(*rows)] if rows else [[] for _ in names], kinds, rows=shape[0]))

    @staticmethod
    def _checked(t):
        if t.rows == 0:
            raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(t.names)})) while a minimum of 1 is required.")
        if not t.names:
            raise ValueError(f"Found array with 0 feature(s) (shape=({t.rows}, 0)) while a minimum of 1 is required.")
        twice = {n for n in t.names if t.names.count(n) > 1} if len(set(t.names)) < len(t.names) else None
        if twice:
            raise UsageError(f"two columns are named {sorted(twice)[0]!r}", "rename one of them")
        return t

    def with_column(self, name, values):
        """The table with one more column, given as a list of values."""
        return _Joined(self, name, values)

    def csv(self, texts=()):
        """The table as bytes of CSV. Missing values are blank cells; ``texts`` are columns of categories, whose
        whole numbers have no point."""
        out = io.StringIO()
        if self.frame is not None:
            return _frame_csv(self.frame, self.names, texts).encode("utf-8")
        w = csv.writer(out, lineterminator="\n")
        w.writerow(self.names)
        columns = [[cell(v, n in texts) for v in c] for n, c in zip(self.names, self.columns)]
        w.writerows(zip(*columns))
        return out.getvalue().encode("utf-8")


class _Joined:
    def __init__(self, table, name, values):
        self.table, self.names, self.kinds, self.rows = table, table.names + [name], table.kinds, table.rows
        self.values = values

    def csv(self, texts=()):
        t = self.table
        if t.frame is not None:
            own = t.frame.copy(deep=False)
            own.columns = t.names
            own[self.names[-1]] = [cell(v, self.names[-1] in texts) for v in self.values]
            return _frame_csv(own, self.names, texts).encode("utf-8")
        return Table(self.names, t.columns + [self.values]).csv(texts)


def _frame_csv(frame, names, texts):
    own = frame.copy(deep=False)
    own.columns = names
    for n in names:
        kind = str(own[n].dtype)
        if kind == "object" or n in texts and kind != "category" or kind.startswith("datetime64[ns,"):
            own[n] = [cell(v, n in texts) for v in own[n]]
        elif kind == "category" and own[n].cat.categories.dtype.kind in "fiub":
            own[n] = [cell(v, True) for v in own[n]]
        elif kind.startswith("complex"):
            raise ValueError("Complex data not supported: a column holds real numbers, texts or dates")
    return own.to_csv(index=False, na_rep="", date_format="%Y-%m-%dT%H:%M:%S", lineterminator="\n")


def cell(v, category=False):
    """A value as the text of a cell; "" for a missing one."""
    if v is None or v is not v:
        return ""
    kind = type(v)
    if kind is str:
        return v
    if kind is bool or kind.__name__ in ("bool_", "bool"):
        return "true" if v else "false"
    if isinstance(v, numbers.Complex) and not isinstance(v, numbers.Real):
        raise ValueError("Complex data not supported: a column holds real numbers, texts or dates")
    if isinstance(v, numbers.Integral):
        return str(int(v))
    if isinstance(v, numbers.Real):
        v = float(v)
        if v != v:
            return ""
        return str(int(v)) if category and v.is_integer() else repr(v)
    if kind.__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(v, datetime.datetime):
        return v.replace(tzinfo=None, microsecond=0).isoformat()
    if isinstance(v, datetime.date):
        return v.isoformat()
    if kind.__name__ == "datetime64":
        text = str(v.astype("datetime64[s]"))
        return "" if text == "NaT" else text
    if isinstance(v, dict):
        raise TypeError(f"argument must be a string or a number, not {kind.__name__}: a cell holds one value")
    return str(v)


def _values(c):
    return c.tolist() if hasattr(c, "tolist") else list(c)


# --- declarations ---------------------------------------------------------------------------------------------------


def _text(v):
    """A YAML scalar in double quotes; JSON's are a part of YAML's."""
    return json.dumps(v, ensure_ascii=False)


def _scalar(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, numbers.Integral):
        return str(int(v))
    if isinstance(v, numbers.Real):
        return repr(float(v))
    if isinstance(v, (datetime.date, datetime.datetime)):
        return cell(v)[:10]
    if isinstance(v, (list, tuple)) or hasattr(v, "tolist"):
        return "[" + ", ".join(_scalar(x) if isinstance(x, str) else _text(cell(x, True)) for x in _values(v)) + "]"
    return _text(str(v))


def declaration(name, d):
    """What a user wrote of a column, as the keys of a schema."""
    def wrong(what):
        return UsageError(f"column {name!r}: {what}", how_to_declare(name))
    if isinstance(d, str):
        if d not in ("boolean", "text", "ignore"):
            raise wrong(f"{d!r} is not a declaration that stands alone")
        return {"type": d}
    if isinstance(d, dict):
        if "type" not in d:
            raise wrong("its declaration has no type")
        return dict(d)
    if isinstance(d, tuple) and len(d) == 2 and all(isinstance(b, datetime.date) for b in d):
        return {"type": "date", "lower": d[0], "upper": d[1]}
    if isinstance(d, tuple) and len(d) == 2 and all(isinstance(b, numbers.Real) and not isinstance(b, bool) for b in d):
        lower, upper = map(float, d)
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise wrong("its bounds are not two finite numbers, the lower first")
        return {"type": "numeric", "lower": d[0], "upper": d[1]}
    if isinstance(d, (list, set)) or hasattr(d, "tolist"):
        if isinstance(d, set):
            raise wrong("a set has no order; list the categories")
        return {"type": "categorical", "categories": d}
    raise wrong("want (lower, upper), a list of categories, \"boolean\", \"text\", \"ignore\", or a dict with a type")


def how_to_declare(name):
    return (f"declare what is public about it, never what the rows show: schema={{{name!r}: (lower, upper)}} for a number, "
            f"[\"A\", \"B\"] for categories, \"boolean\", \"text\", or \"ignore\"")


def declare(table, dataset, target=None, target_declared=None, schema=None, bounds=None, unit=None, rows_per_unit=None, rows=None, public=False):
    """The schema as YAML, and the columns of categories. ``schema`` is None, a mapping, or the path of a file."""
    if schema is not None and not isinstance(schema, dict):
        return _named(schema, dataset), ()
    columns = {str(n): declaration(str(n), d) for n, d in (schema or {}).items()}
    if bounds is not None:
        columns_bounds = declaration("bounds", bounds) if isinstance(bounds, tuple) else None
        if columns_bounds is None or columns_bounds["type"] != "numeric":
            raise UsageError(f"bounds={bounds!r} are not (lower, upper)", "they hold for every column that schema does not declare")
    missing = []
    for n in table.names:
        if n in columns or n == target:
            continue
        if n == unit:
            columns[n] = {"type": "ignore"}
        elif table.kinds.get(n) == "boolean":
            columns[n] = {"type": "boolean"}
        elif bounds is not None:
            columns[n] = columns_bounds
        else:
            missing.append(n)
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UsageError(f"column {missing[0]!r}{more}: no bounds or categories are declared", how_to_declare(missing[0]))
    if target is not None and target not in columns:
        if target_declared is None:
            raise UsageError(f"the target {target!r} is not declared", "classes=[...] names the classes of a classifier; bounds_y=(lower, upper) bounds the target of a regressor")
        columns[target] = {**target_declared, "missing": "refuse"}
    out = ["version: 1", f"dataset: {_text(dataset)}"]
    if unit is None or unit == "row" and unit not in table.names and rows_per_unit is None:
        out.append("unit: row")
    elif rows_per_unit is None:
        raise UsageError(f"unit={unit!r} needs rows_per_unit: the most rows that one of them may have", "example: rows_per_unit=5")
    elif unit not in table.names:
        raise UsageError(f"unit={unit!r} is not a column of the table", "leave unit out where each row is another person")
    else:
        out.append(f"unit: {{name: {_text(unit)}, column: {_text(unit)}, rows: {int(rows_per_unit)}}}")
    if public:
        out.append("public: true")
    out += [f"rows: {rows if rows is not None else 'private'}", 'na: [""]', "columns:"]
    for n, d in columns.items():
        if d["type"] != "ignore":
            d = {"missing": "unknown", **d}
        if d.get("missing") == "refuse":  # which a schema says by saying nothing
            d = {k: v for k, v in d.items() if k != "missing"}
        keys = {"type": d["type"], **{k: v for k, v in d.items() if k != "type"}}
        out.append(f"  - {{name: {_text(n)}, " + ", ".join(f"{k}: {v if k == 'type' else _scalar(v)}" for k, v in keys.items()) + "}")
    return "\n".join(out) + "\n", tuple(n for n, d in columns.items() if d["type"] == "categorical")


def _named(path, dataset):
    """The text of a schema file, under the name of the data set."""
    path = os.path.expanduser(os.fspath(path))
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror}", "pawl init DATA.csv writes a template of a schema") from None
    if re.search(r"^file\s*:", text, re.MULTILINE):
        raise UsageError(f"{path}: its section file says how a file is written, and rows from Python are not one",
                         "leave the section out of a copy of the schema, or run pawl fit on the file")
    own = re.search(r"^dataset\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s#]+))", text, re.MULTILINE)
    if own is None:
        return f"dataset: {_text(dataset)}\n" + text
    own = next(g for g in own.groups() if g is not None)
    if own != dataset:
        raise UsageError(f"dataset={dataset!r}, but {path} declares the data set {own!r}", "use one name: it owns the budget")
    return text
