"""Refit: the coordinates x would have had, had it been among the training points.

The eigenproblem of n + 1 points, ``κ' φ = S' φ μ``, is solved within the span of the leading
eigenvectors Φ of the n points, of the part r of x's row that they miss, and of x itself:

    g = Φᵀk     r = k/S − Φg     ρ² = ‖r‖²_S     r̂ = r/ρ

    A = [[Λ, 0, g], [0, r̂ᵀκr̂, ρ], [gᵀ, ρ, κ(x,x)]]
    B = [[I + Φᵀdiag(k)Φ, Φᵀ(k∘r̂), 0], [·, 1 + Σ k r̂², 0], [0, 0, S(x)]]

(B: the degrees after x has joined; the identity where a method has none.) The top pairs of
``A u = μ B u`` are rotated back into the fitted frame; the last entry of u is φ(x). Nyström leaves
the corner κ(x,x) and ρ out, and so shrinks new points.

Where κ is a graph, x moves edges around it: κ changes by δ, and each point of that neighbourhood
takes the place of r.
"""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..gram import Array, Border, Index, Matrix
from ..ritz import Joined, Ritz, ceilings, pencil, ritz
from .base import Extension, Model
from .nystrom import Nystrom
from .rewiring import Rewired

NOISE = 1e-12  # ρ² below this part of ‖k/S‖²_S is rounding error


class Refit(Extension):
    """A Rayleigh–Ritz step towards the fit that has the new point among its training points.

    Every row is answered as if it alone had joined. It does not interpolate: a row that is a
    training point is a second copy of it. A point too far from all others to share a component
    with them keeps Nyström's coordinates. Of LLE a point changes the weights of those that it
    becomes a neighbour of: answers are those of a fit to four digits or more, without a bound, for
    some forty sparse solves each; rows join one by one.

    Parameters
    ----------
    n_pairs : int, default=16
        Eigenpairs kept beside those of the embedding: more come closer to the refit. Of LLE at most
        four, as its steps converge fast.
    refine : int, default=0
        Steps that converge to the exact refit. Each takes products of κ with a few vectors for
        every row, and κ is kept: n² numbers where it is dense.
    bounded : bool, default=False
        Bound the error: ``bound_`` has for each row of the last transform an upper bound of the
        sine of the angle between the space found and that of the exact refit; 1 says nothing.
        Costs as much as a step of ``refine``.
    jointly : bool, default=False
        All rows of a transform join together, and their mutual similarities count.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenmaps import KernelPCA, extensions
    >>> X = load_digits().data
    >>> way = extensions.Refit(refine=1, bounded=True)
    >>> model = KernelPCA(2, kernel="rbf", gamma=1e-3, extension=way).fit(X[:500])
    >>> Y = model.transform(X[500:510])
    >>> bool((model.extension_.bound_ < 0.01).all())
    True
    """

    serves = ("vectors", "distances")  # similarities given leave out that of x to itself
    interpolates = False
    figures: ClassVar[tuple[str, ...]] = ("bound_",)

    def __init__(
        self, n_pairs: int = 16, refine: int = 0, bounded: bool = False, jointly: bool = False
    ):
        self.n_pairs = n_pairs
        self.refine = refine
        self.bounded = bounded
        self.jointly = jointly

    @property
    def together(self) -> bool:
        return self.jointly

    def fit(self, model: Model) -> Self:
        self.check(model)
        for name in ("n_pairs", "refine"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or int(value) < 0:
                raise ValueError(f"{name}={value!r} of Refit must be a whole number, at least 0.")
        self.nystrom_ = Nystrom().fit(model)
        self.kernel_ = model.kernel
        self.scaling_ = model.scaling
        if model.kernel.rewiring(model.X[:1]) is not None:
            self.rewired_ = Rewired().fit(model, self.n_pairs)
            return self
        if self.jointly and model.kernel.takes != "vectors":
            raise ValueError(
                "extension 'refit' with jointly=True needs the data itself: rows of precomputed "
                f"{model.kernel.takes} do not tell how new points lie to one another."
            )
        if model.kernel.border(model.X[:1]) is None:
            raise ValueError(
                f"extension 'refit' asks {type(model.kernel).__name__} what a new point adds to "
                "its matrix, and its border() does not say. Define it, or use 'nystrom'."
            )
        gram, pairs = model.solved(model.phi.shape[1] + self.n_pairs)
        S = np.ones(gram.n) if gram.degree is None else gram.degree
        trivial = np.empty((gram.n, 0)) if gram.known is None else gram.known[:, : gram.drop]
        V = np.hstack([trivial, pairs.vectors])
        self.values_ = np.einsum("ij,ij->j", V, gram.dot(V))
        self.Phi_ = V / np.sqrt(S)[:, None]
        self.drop_ = 0 if gram.constant else gram.drop
        self.constant_ = 1 / self.Phi_[0, 0] if gram.constant else None  # 1 = Φ_0 / φ_0
        self.degree_ = gram.degree
        self.inverse_degree_ = 1 / S
        # Φᵀdiag(k)Φ of many rows k is one product with the products of the columns of Φ.
        self.upper_ = np.triu_indices(V.shape[1])
        self.products_ = self.Phi_[:, self.upper_[0]] * self.Phi_[:, self.upper_[1]]
        self.embedding_ = model.embedding
        self.old_ = model.embedding * self._spread(S)
        self.frame_ = self.old_.T @ self.Phi_
        self.graph_ = sp.issparse(gram.matrix)
        self.whole_ = bool(self.refine or self.bounded or self.jointly) or (
            model.kernel.reacts and not self.graph_
        )
        self.base_: Matrix | None = None
        if self.graph_ or self.whole_:
            self.base_ = gram.formed
            if gram.degree is not None:
                root = sp.diags_array(np.sqrt(S))
                self.base_ = root @ self.base_ @ root
                self.base_ = sp.csr_array(self.base_) if self.graph_ else np.asarray(self.base_)
        return self

    def __call__(self, X: Matrix) -> Array:
        Y = self.nystrom_(X)
        self.bound_ = np.ones(len(Y))
        rewiring = self.kernel_.rewiring(X)
        if rewiring is not None:
            return self.rewired_(rewiring, Y, self.refine)
        chosen = np.flatnonzero(np.isfinite(Y).all(axis=1))
        if self.whole_:
            for part in [chosen] if self.jointly else np.split(chosen, len(chosen)):
                if len(part):
                    self._whole(X[part], part, Y)
            return Y
        border = self.kernel_.border(X)
        assert border is not None
        chosen = chosen[~border.strangers(self.degree_)[chosen]]
        if len(chosen) == 0:
            return Y
        if self.graph_:
            new = np.vstack([self._nearby(border, i) for i in chosen.tolist()])
        else:
            new = self._at_once(border, chosen)
        degree = None if border.degree is None else border.degree[chosen]
        Y[chosen] = self.scaling_.size_of(len(self.old_) + 1) * new * self._spread(degree)
        return Y

    @property
    def _wanted(self) -> slice:
        return slice(self.drop_, self.drop_ + len(self.frame_))

    def _spread(self, degree: Array | None) -> Array | float:
        """What φ is multiplied by where coordinates carry ``√S``."""
        if degree is None or not self.scaling_.by_degree:
            return 1.0
        return np.asarray(np.sqrt(degree)[:, None])

    def _at_once(self, border: Border, chosen: Index) -> Array:
        """φ(x) of many rows of a dense κ that x does not change."""
        degree = None if border.degree is None else border.degree[chosen]
        mu, U = self._solve(np.asarray(border.row)[chosen], border.own[chosen], degree)
        p = self.Phi_.shape[1]
        U = U[:, :, self._wanted]
        return self._into_frame(mu[:, self._wanted], self.frame_ @ U[:, :p], U[:, -1:])[:, 0]

    def _nearby(self, border: Border, i: int) -> Array:
        """φ(x) where κ is a graph: x, Φ, and the points around x, each on its own."""
        assert border.degree is not None
        assert self.degree_ is not None
        assert isinstance(self.base_, sp.csr_array)
        k, n = sp.csr_array(border.row[[i]]), len(self.old_)
        delta = border.changes[i] if border.changes else sp.csr_array((n, n))
        T = np.union1d(k.indices, delta.indices)
        row, change = k[:, T].toarray().ravel(), delta[T][:, T].toarray()
        S, Phi = self.degree_[T], self.Phi_[T]
        shift = row + change.sum(axis=1)
        kappa = self.base_[T][:, T].toarray() + change
        p, t = Phi.shape[1], len(T)
        A, B = np.zeros((p + t + 1, p + t + 1)), np.zeros((p + t + 1, p + t + 1))
        A[:p, :p] = np.diag(self.values_) + Phi.T @ change @ Phi
        A[p:-1, :p] = S[:, None] * Phi * self.values_ + change @ Phi
        A[p:-1, p:-1] = kappa
        A[-1, :p], A[-1, p:-1], A[-1, -1] = row @ Phi, row, border.own[i]
        B[:p, :p] = np.eye(p) + (Phi.T * shift) @ Phi
        B[p:-1, :p] = (S + shift)[:, None] * Phi
        B[p:-1, p:-1] = np.diag(S + shift)
        B[-1, -1] = border.degree[i]
        mu, U = pencil(self._deflated(_full(A), _full(B)), B)
        U = U[:, self._wanted]
        old = self.frame_ @ U[:p] + self.old_[T].T @ U[p:-1]
        return self._into_frame(mu[self._wanted], old, U[-1:])

    def _whole(self, X: Matrix, place: Index, Y: Array) -> None:
        """Coordinates and bound of rows that join together, from vectors of all points."""
        border = self.kernel_.join(X)
        assert border is not None
        known = ~border.strangers(self.degree_)
        if not known.any():
            return
        joined = self._of(border) if known.all() else self.joined(X[known])
        found = self.found(joined)
        n, m = joined.sizes
        spread = self._spread(joined.degree) * np.ones((n + m, 1))
        U = found.U[:, self._wanted]
        new = self._into_frame(
            found.mu[self._wanted], (self.embedding_ * spread[:n]).T @ U[:n], U[n:]
        )
        Y[place[known]] = self.scaling_.size_of(n + m) * new * spread[n:]
        if self.bounded:
            limits = ceilings(joined, self.values_, self.Phi_)
            self.bound_[place[known]] = found.bound(self._wanted, limits)

    def joined(self, X: Matrix) -> Joined:
        """The eigenproblem once these rows have joined together."""
        border = self.kernel_.join(X)
        assert border is not None
        return self._of(border)

    def _of(self, border: Border) -> Joined:
        assert self.base_ is not None
        return Joined.of(self.base_, self.degree_, border, self.constant_ is not None)

    def found(self, joined: Joined) -> Ritz:
        """Its Ritz pairs in the span of Φ, of what lies around the new points, and of these."""
        border, (n, m) = joined.border, joined.sizes
        if isinstance(border.row, sp.csr_array):
            T = joined.touched
            around = np.zeros((n, len(T)))
            around[T, np.arange(len(T))] = 1
        else:
            around = border.row.T * self.inverse_degree_[:, None]
        basis = np.zeros((n + m, self.Phi_.shape[1] + around.shape[1] + m))
        basis[:n, : self.Phi_.shape[1]] = self.Phi_
        basis[:n, self.Phi_.shape[1] : -m] = around
        basis[n:, -m:] = np.eye(m)
        return ritz(joined, basis, self._wanted.stop, self.refine)

    def _solve(self, k: Array, own: Array, degree: Array | None) -> tuple[Array, Array]:
        """μ (decreasing) and u of ``A u = μ B u``, for every row k.

        ``r̂ᵀκr̂`` lies among the eigenvalues that are not kept. Of a dense kernel these are small:
        it is taken for 0.
        """
        m, (n, p) = k.shape[0], self.Phi_.shape
        g = k @ self.Phi_
        kS = k * self.inverse_degree_
        kk = k * kS  # k²/S
        squares = kk.sum(axis=1)
        rho2 = squares - (g**2).sum(axis=1)
        missed = rho2 > NOISE * squares
        rho = np.sqrt(np.where(missed, rho2, 1))
        A = np.zeros((m, p + 2, p + 2))
        A[:, range(p), range(p)] = self.values_
        # Without r, a direction of its own that stays below all others.
        A[:, p, p] = np.where(missed, 0, self.values_.min() - 1)
        # A centre moves when x joins; by ΦᵀI1 = 0 this changes the border only.
        centre = n / (n + 1) if degree is None else 1.0
        A[:, :p, -1] = A[:, -1, :p] = centre * g
        A[:, p, -1] = A[:, -1, p] = np.where(missed, centre * rho, 0)
        A[:, -1, -1] = centre**2 * own
        if degree is None:
            mu, U = np.linalg.eigh(A)
            return mu[:, ::-1], U[:, :, ::-1]
        C = np.zeros((m, p, p))
        C[:, self.upper_[0], self.upper_[1]] = k @ self.products_
        C[:, self.upper_[1], self.upper_[0]] = C[:, self.upper_[0], self.upper_[1]]
        Cg = np.einsum("mij,mj->mi", C, g)
        c = kk @ self.Phi_
        third = (kk * kS).sum(axis=1)  # Σ k (k/S)²
        B = np.zeros_like(A)
        B[:, :p, :p] = C + np.eye(p)
        B[:, :p, p] = B[:, p, :p] = np.where(missed, 1 / rho, 0)[:, None] * (c - Cg)
        krr = third - 2 * (g * c).sum(axis=1) + (g * Cg).sum(axis=1)
        B[:, p, p] = 1 + np.where(missed, np.maximum(krr, 0) / rho**2, 0)
        B[:, -1, -1] = degree
        A = self._deflated(A, B)
        half = np.linalg.inv(np.linalg.cholesky(B))
        mu, U = np.linalg.eigh(half @ A @ half.transpose(0, 2, 1))
        return mu[:, ::-1], (half.transpose(0, 2, 1) @ U)[:, :, ::-1]

    def _deflated(self, A: Array, B: Array) -> Array:
        """A with the constant pair moved to the bottom: 1 is Φ_0 / φ_0 on the old points, and x."""
        if self.constant_ is None:
            return A
        Bo = self.constant_ * B[..., :, 0] + B[..., :, -1]
        size = self.constant_ * Bo[..., 0] + Bo[..., -1]
        return np.asarray(A - 2 * Bo[..., :, None] * Bo[..., None, :] / size[..., None, None])

    def _into_frame(self, mu: Array, old: Array, new: Array) -> Array:
        """φ of new points, scaled, turned such that the old points lie on their old coordinates.

        ``old`` are the products of the old coordinates with the vectors.
        """
        weight = np.maximum(mu, 0) ** self.scaling_.power
        old = old * weight[..., None, :]
        left, _, right = np.linalg.svd(np.swapaxes(old, -1, -2))
        return np.asarray((new * weight[..., None, :]) @ (left @ right))


def _full(lower: Array) -> Array:
    """A symmetric matrix from its lower triangle."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)
