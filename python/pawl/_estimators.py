"""Estimators in the manner of scikit-learn, which need not be there."""

import csv
import inspect
import io
import json
import numbers
import os
import sys
import tempfile
import warnings
import weakref

from . import ledger as _ledger
from ._program import Workplace, run
from ._released import Report, Score, claim, facts, rows as _rows
from ._table import Table, cell, declare
from .errors import UsageError

_clones = weakref.WeakSet()  # made by sklearn.base.clone, which leaves no other trace


class NotFittedError(ValueError, AttributeError):
    """Raised before fit where scikit-learn is not loaded; where it is, its own class is raised."""


def _array(values):
    """An array of numpy where numpy is there."""
    try:
        import numpy
    except ImportError:
        return values
    return numpy.asarray(values)


def _callers():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_globals.get("__name__", ""), frame.f_code.co_name
        frame = frame.f_back


class _Estimator:
    _required_parameters = ["epsilon", "dataset"]

    def _set(self, parameters):
        for name, value in parameters.items():
            setattr(self, name, value)
        for _, (module, function) in zip(range(5), _callers()):
            if module == "sklearn.base" and "clone" in function:
                _clones.add(self)

    # --- parameters, as scikit-learn wants them ---

    @classmethod
    def _get_param_names(cls):
        names = set()
        for c in cls.__mro__:
            if "__init__" in vars(c) and c is not object:
                names |= {p.name for p in inspect.signature(c.__init__).parameters.values() if p.name != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        return sorted(names)

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **parameters):
        """Sets parameters by name. Fitting again after it is another job."""
        for name, value in parameters.items():
            if name not in self._get_param_names():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {self._get_param_names()!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = {p.name: p.default for c in type(self).__mro__ if "__init__" in vars(c) and c is not object
                    for p in inspect.signature(c.__init__).parameters.values()}
        shown = [f"{n}={v!r}" for n, v in self.get_params().items() if not _same(v, defaults.get(n, inspect.Parameter.empty))]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _more_tags(self):
        return {"non_deterministic": True, "poor_score": True, "allow_nan": True, "requires_y": True, "_xfail_checks": dict(self._xfail_checks())}

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
        classifies = self._estimator_type == "classifier"
        return Tags(estimator_type=self._estimator_type, target_tags=TargetTags(required=True), transformer_tags=None,
                    classifier_tags=ClassifierTags(poor_score=True) if classifies else None, regressor_tags=None if classifies else RegressorTags(poor_score=True),
                    non_deterministic=True, input_tags=InputTags(allow_nan=True, string=True, categorical=True))

    @staticmethod
    def _xfail_checks():
        """Checks of scikit-learn that do not suit a private estimator, with the reason."""
        noise = "two fits draw different noise"
        classes = "one estimator is fitted to targets with other classes each time; here classes are declared, in an order of their own"
        return {
            "check_fit_idempotent": noise,
            "check_supervised_y_2d": noise,
            "check_regressors_int": noise,
            "check_regressor_data_not_an_array": noise,
            "check_classifier_data_not_an_array": noise,
            "check_classifiers_one_label": "a classifier has two declared classes or more",
            "check_dataframe_column_names_consistency": "columns are found by name: their order does not matter and others are ignored",
            "check_classifiers_classes": classes,
            "check_classifiers_train": classes,
        }

    # --- fit ---

    def fit(self, X, y):
        """Prices the job, charges it in the ledger, trains and scores. Returns self.

        X is a frame, an array, a list of rows or a mapping of names to columns; y the target. Blank, None, NaN and NA are
        missing cells. Everything that is wrong with names, declarations and the budget is found before anything is charged."""
        self._may_fit()
        t, target, classes, text, table = self._given(X, y)
        with Workplace(text) as w:
            arguments = ["fit", "-", "--schema", w.schema, "--target", target, "--epsilon", cell(self.epsilon), "--json", "--out", w.out]
            for name in ("delta", "budget", "model", "preset"):
                value = getattr(self, name)
                if value is not None and value != {"model": "auto", "preset": "balanced"}.get(name):
                    arguments += ["--" + name, cell(value)]
            arguments += [flag for flag, on in (("--search", self.search), ("--updated", self.updated)) if on]
            statement = run([*arguments, *self.flags], rows=table, binary=self.binary, ledger=self.ledger)
            files = w.files()
        statement["paths"] = {}  # of a folder that is gone; save() writes the files again
        self.statement_, self.files_ = statement, files
        self.report_ = Report(files["report.html"].decode("utf-8"))
        self.score_ = Score(statement["score"])
        self.target_, self.n_features_in_ = target, len(t.names)
        self.entry_ = statement["budget"]["entry"]
        if t.frame is not None and all(isinstance(c, str) for c in t.frame.columns):
            self.feature_names_in_ = _array(t.names).astype(object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._fitted(classes)
        return self

    def _given(self, X, y):
        """The columns, the name of the target, its classes, the schema as YAML and the table as CSV."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        t = Table.of(X)
        target, values = self._target(y, t)
        text, texts = declare(t, self._name(), target, self._target_declaration(values), self.schema, self.bounds, self.unit, self.rows_per_unit, self.rows, self.public)
        return t, target, self._classes(values), text, t.with_column(target, values).csv((*texts, target))

    def _name(self):
        if not isinstance(self.dataset, str) or not self.dataset:
            raise UsageError("dataset is missing: the name of the data set owns the budget", "example: dataset=\"patients\"")
        return self.dataset

    def _may_fit(self):
        """Stops what would charge a sensitive data set more often than the caller sees, before any charge."""
        loop = next((m for m, _ in _callers() if m.startswith("sklearn.") and not m.startswith(("sklearn.utils", "sklearn.base"))), None)
        way = "let one job choose within one epsilon: search=True, or pawl search on the command line; public=True is for data sets that the ledger holds as public"
        if loop is not None and loop.startswith("sklearn.model_selection"):
            what = "cross-validation and grid search fit and score many times, and every fit would be charged"
        elif loop is not None and loop.startswith("sklearn.pipeline"):
            what = "the steps of a pipeline before this one look at the rows without paying"
            way = "give the rows as they are: pawl encodes them by public facts; public=True is for data sets that the ledger holds as public"
        elif loop is not None:
            what = f"{loop} fits the estimator by itself, and every fit would be charged"
        elif self in _clones:
            what = "this estimator is a clone, and fitting it would be charged once more"
        elif hasattr(self, "statement_"):
            what = f"this estimator is fitted (entry {self.entry_}), and fitting it again would be charged once more"
            way = "predictions are free; " + way + "; for a second paid fit make a new estimator"
        else:
            return
        if self.public and _ledger.public(self._name(), self.ledger, self.binary) in (True, None):
            return
        raise UsageError(what + "; nothing was charged", way)

    def _target(self, y, t):
        """The name of the target and its values as a list."""
        name = self.target or (y.name if isinstance(getattr(y, "name", None), str) else None) or "target"
        if name in t.names:
            raise UsageError(f"the target {name!r} is a column of X too", "take it out of X, or name the target with target=NAME")
        if hasattr(y, "dtype") and getattr(y.dtype, "kind", "") == "c":
            raise ValueError("Complex data not supported: the target holds real numbers or classes")
        shape = getattr(y, "shape", None)
        if shape is not None and len(shape) == 2 and shape[1] == 1:
            if "sklearn.exceptions" in sys.modules:
                warnings.warn("A column-vector y was passed when a 1d array was expected.", sys.modules["sklearn.exceptions"].DataConversionWarning, stacklevel=3)
            y = y.iloc[:, 0] if hasattr(y, "iloc") else y.ravel()
        if hasattr(y, "__array__") and not hasattr(y, "tolist"):
            y = _array(y)
        values = y.tolist() if hasattr(y, "tolist") else list(y)
        if values and isinstance(values[0], (list, tuple)):
            raise ValueError("y should be a 1d array, got an array of another shape instead")
        if len(values) != t.rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{t.rows}, {len(values)}]")
        for v in values:
            if isinstance(v, float) and (v != v or v in (float("inf"), -float("inf"))):
                raise ValueError("Input y contains NaN." if v != v else "Input y contains infinity or a value too large for dtype('float64').")
        return name, values

    # --- predict ---

    def _predicted(self, X, raw=False):
        """Predictions of the model as rows of texts under their header."""
        if not hasattr(self, "files_"):
            error = sys.modules["sklearn.exceptions"].NotFittedError if "sklearn.exceptions" in sys.modules else NotFittedError
            raise error(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")
        t = Table.of(X)
        if not hasattr(self, "feature_names_in_") and t.frame is None and not isinstance(X, dict) and len(t.names) != self.n_features_in_:
            raise ValueError(f"X has {len(t.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        with tempfile.TemporaryDirectory(prefix="pawl-") as folder:
            for name, content in self.files_.items():
                if name.startswith("model/"):
                    with open(os.path.join(folder, os.path.basename(name)), "wb") as f:
                        f.write(content)
            out = run(["predict", folder, "-", *(["--raw"] if raw else [])], rows=t.csv(self._texts(t)), binary=self.binary, parse=False, stacklevel=4)
        lines = csv.reader(io.StringIO(out))
        header = next(lines)
        return header, list(lines)

    def _texts(self, t):
        """The columns of categories, which the schema of the model names."""
        schema = self.files_["model/schema.yaml"].decode("utf-8")
        names, name = set(), None
        for line in schema.splitlines():
            key, _, value = line.strip().partition(": ")
            if key == "- name":
                name = json.loads(value)
            elif key == "type" and value == "categorical":
                names.add(name)
        return tuple(n for n in t.names if n in names)

    def score(self, X, y, sample_weight=None, public=None):
        """The exact score on rows that are public: accuracy of a classifier, R² of a regressor.

        On sensitive rows it would be exact and not charged, so it is refused: score_ is the released one. public=True says
        that these rows are public, as those of a public data set are."""
        self._is_fitted()
        if not (public if public is not None else self.statement_["data"]["public"]):
            raise UsageError("score(X, y) would be exact and not charged, and would reveal facts about sensitive rows",
                             "score_ is the released score; say score(X, y, public=True) of rows that are public")
        return self._exact(self.predict(X), y.tolist() if hasattr(y, "tolist") else list(y), sample_weight)

    def _is_fitted(self):
        if not hasattr(self, "files_"):
            self._predicted(None)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "files_")

    def save(self, folder):
        """Writes the released files (model/, report.html, statement.json and others) into a new folder."""
        self._is_fitted()
        os.makedirs(folder)
        for name, content in self.files_.items():
            path = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(content)
        return folder

    def _repr_html_(self):
        if not hasattr(self, "statement_"):
            return _rows([(n, repr(v)) for n, v in self.get_params().items() if v is not None and n in ("epsilon", "delta", "dataset", "schema", "ledger")],
                         f"{type(self).__name__}, not fitted: nothing is charged")
        return _rows(facts(self.statement_), f"{type(self).__name__} of {self.target_}: {claim(self.statement_)}")


def _boolean(values):
    return type(values[0]) is bool


def _same(a, b):
    if a is b:
        return True
    try:
        return bool(a == b)
    except (ValueError, TypeError):
        return False


class PawlClassifier(_Estimator):
    """A classifier that satisfies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float or str
        What the whole job may cost, everything included. A text is booked as the decimal it is.
    dataset : str
        The name that owns the budget in the ledger.
    delta : float or str, default: that of the budget, else a power of ten up to 1/(10 · rows)
    schema : dict or path
        What is public about the columns: (lower, upper) for numbers, a list of categories, "boolean", "text", "ignore",
        (date, date), or a dict with the keys of a schema; or the path of a schema file. Columns of type bool need none.
    classes : list
        The classes in order; of two, the second is the one that is looked for. Needed unless y has type bool or the
        schema declares the target.
    bounds : (lower, upper)
        Of every column that schema does not declare.
    target : str, default: the name of y, or "target"
    unit, rows_per_unit : str, int
        The column of X that tells people apart, which is no feature, and the most rows that one of them may have. Without
        it, or with "row", every row is protected on its own.
    rows : "public", int, "about N" or "private" (the default: a count is paid for)
    public : bool
        The data set is public: nothing is limited and scores are exact. Counts when the name is new to the ledger.
    updated : bool
        The rows have changed on purpose since the data set was last used.
    ledger : str, default: PAWL_LEDGER, or your own
    budget : float or str
        The total of all jobs on the data set, granted once, at the first job.
    model, preset, search : as --model, --preset and --search of pawl fit
    flags : list of str
        Further flags of pawl fit, such as ["--recall", "0.8"].
    binary : path of the program, default: PAWL_BINARY, or pawl on the PATH

    Attributes
    ----------
    score_ : Score
        The released score: a number with interval, baseline and how.
    statement_ : dict
        The machine-readable statement. report_ is the page for people, entry_ the charge in the ledger, files_ all
        released files.
    classes_, target_, n_features_in_, feature_names_in_
    """

    _estimator_type = "classifier"

    def __init__(self, epsilon, dataset, *, delta=None, schema=None, classes=None, target=None, bounds=None, unit=None, rows_per_unit=None,
                 rows=None, public=False, updated=False, ledger=None, budget=None, model="auto", preset="balanced", search=False, flags=(), binary=None):
        given = locals()
        self._set({k: v for k, v in given.items() if k not in ("self", "__class__")})

    def _target_declaration(self, values):
        if self.classes is None:
            return {"type": "boolean"} if _boolean(values) else None
        classes = list(self.classes)
        if len({cell(c, True) for c in classes}) < len(classes) or len(classes) < 2:
            raise UsageError("classes must be at least two different ones", "list those that can occur, not those that the rows show")
        if [cell(c, True) for c in classes] == ["false", "true"]:
            return {"type": "boolean"}
        return {"type": "categorical", "categories": classes}

    def _target(self, y, t):
        name, values = super()._target(y, t)
        if self.classes is not None:
            known = {cell(c, True) for c in self.classes}
            for v in values:
                if isinstance(v, float) and not v.is_integer():
                    raise ValueError("Unknown label type: continuous. A classifier wants classes")
                if cell(v, True) not in known:
                    raise UsageError("y has a value that classes does not declare", "classes lists all that can occur; it is public")
        return name, values

    def _classes(self, values):
        """The classes that were declared, by their texts; None where a schema file declares them."""
        if self.classes is not None:
            return {cell(c, True): c for c in self.classes}
        if _boolean(values):
            return {"false": False, "true": True}
        return None

    def _fitted(self, known):
        texts = self.statement_["data"]["classes"]
        self.classes_ = _array([known.get(c, c) if known else c for c in texts])
        self._class_texts = list(texts)

    def predict(self, X):
        """The class of each row. Free: a private model may be used any number of times."""
        _, lines = self._predicted(X)
        at = {c: i for i, c in enumerate(self._class_texts)}
        chosen = [at[line[0]] for line in lines]
        return self.classes_[chosen] if hasattr(self.classes_, "dtype") else [self.classes_[i] for i in chosen]

    def predict_proba(self, X):
        """The probability of each class, in the order of classes_. Calibrated where the score gave a calibration."""
        header, lines = self._predicted(X)
        if len(header) == 2:  # that of the second class
            second = [float(line[1]) for line in lines]
            return _array([[1 - p, p] for p in second])
        return _array([[float(p) for p in line[1:]] for line in lines])

    def _exact(self, predicted, y, weight):
        right = [cell(a, True) == cell(b, True) for a, b in zip(predicted, y)]
        weight = [1.0] * len(right) if weight is None else [float(w) for w in weight]
        return sum(w for w, r in zip(weight, right) if r) / sum(weight)


class PawlRegressor(_Estimator):
    """A regressor that satisfies (epsilon, delta)-differential privacy.

    Parameters are those of PawlClassifier without classes, and

    bounds_y : (lower, upper)
        The bounds of the target, unless the schema declares it. Values outside are clipped.
    """

    _estimator_type = "regressor"

    def __init__(self, epsilon, dataset, *, delta=None, schema=None, bounds_y=None, target=None, bounds=None, unit=None, rows_per_unit=None,
                 rows=None, public=False, updated=False, ledger=None, budget=None, model="auto", preset="balanced", search=False, flags=(), binary=None):
        given = locals()
        self._set({k: v for k, v in given.items() if k not in ("self", "__class__")})

    def _target_declaration(self, values):
        if self.bounds_y is None:
            return None
        if not isinstance(self.bounds_y, tuple):
            raise UsageError(f"bounds_y={self.bounds_y!r} are not (lower, upper)", "example: bounds_y=(0, 500000)")
        from ._table import declaration
        return declaration(self.target or "target", self.bounds_y)

    def _target(self, y, t):
        name, values = super()._target(y, t)
        for v in values[:1]:
            if not isinstance(v, numbers.Real):
                raise ValueError("could not convert string to float: the target of a regressor is a number")
        return name, values

    def _classes(self, values):
        return None

    def _fitted(self, _):
        pass

    def predict(self, X):
        """The number predicted for each row, in units of the target. Free."""
        return _array([float(line[0]) for line in self._predicted(X)[1]])

    def _exact(self, predicted, y, weight):
        weight = [1.0] * len(y) if weight is None else [float(w) for w in weight]
        mean = sum(w * float(v) for w, v in zip(weight, y)) / sum(weight)
        total = sum(w * (float(v) - mean) ** 2 for w, v in zip(weight, y))
        left = sum(w * (float(v) - float(p)) ** 2 for w, v, p in zip(weight, y, predicted))
        return 1 - left / total if total > 0 else float(left == 0)
