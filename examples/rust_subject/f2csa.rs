//! F2CSA in Rust: the paper's Algorithms 1 and 2 for quadratic problems; it knows nothing of the suite.
pub type Vector = Vec<f64>;
pub type Matrix = Vec<Vector>;

pub fn dot(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(a, b)| a * b).sum()
}
pub fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}
/// u + scale · v
pub fn add(u: &[f64], v: &[f64], scale: f64) -> Vector {
    u.iter().zip(v).map(|(a, b)| a + scale * b).collect()
}
pub fn times(rows: &[Vector], v: &[f64]) -> Vector {
    rows.iter().map(|row| dot(row, v)).collect()
}
pub fn transpose(rows: &[Vector], width: usize) -> Matrix {
    (0..width).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
}

/// X with M X = R, by elimination with partial pivoting.
pub fn solve(left: &[Vector], right: &[Vector]) -> Result<Matrix, String> {
    let n = left.len();
    let mut rows: Matrix = left.iter().zip(right).map(|(a, b)| [a.as_slice(), b].concat()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap_or(k);
        if rows[pivot][k].abs() == 0.0 { return Err("a linear system is singular".into()) }
        rows.swap(k, pivot);
        for i in 0..n {
            if i != k && rows[i][k] != 0.0 { rows[i] = add(&rows[i], &rows[k], -rows[i][k] / rows[k][k]) }
        }
    }
    Ok(rows.iter().enumerate().map(|(k, row)| row[n..].iter().map(|value| value / row[k]).collect()).collect())
}
fn solve_vector(left: &[Vector], r: &[f64]) -> Result<Vector, String> {
    let columns: Matrix = r.iter().map(|&value| vec![value]).collect();
    Ok(solve(left, &columns)?.concat())
}

/// o(x, y) = ½xᵀ(xx)x + xᵀ(xy)y + ½yᵀ(yy)y + x0ᵀx + y0ᵀy
pub struct Objective {
    pub xx: Matrix,
    pub xy: Matrix,
    pub yy: Matrix,
    pub x0: Vector,
    pub y0: Vector,
}

impl Objective {
    fn grad_x(&self, x: &[f64], y: &[f64]) -> Vector {
        add(&add(&times(&self.xx, x), &times(&self.xy, y), 1.0), &self.x0, 1.0)
    }
    fn grad_y(&self, x: &[f64], y: &[f64]) -> Vector {
        add(&add(&times(&transpose(&self.xy, y.len()), x), &times(&self.yy, y), 1.0), &self.y0, 1.0)
    }
}

pub struct Problem {
    pub f: Objective,
    pub g: Objective,
    pub a: Matrix,
    pub b_rows: Matrix,
    pub b: Vector,
}

impl Problem {
    /// h = Ax - By - b
    pub fn h(&self, x: &[f64], y: &[f64]) -> Vector {
        add(&add(&times(&self.a, x), &times(&self.b_rows, y), -1.0), &self.b, -1.0)
    }
}

/// Rows that hold as equations where ½yᵀGy + cᵀy is least under By >= d: Lemke's complementary pivots on the dual.
fn active_rows(g: &[Vector], c: &[f64], rows: &[Vector], d: &[f64]) -> Result<Vec<usize>, String> {
    let (p, last) = (d.len(), 2 * d.len() + 1);
    let mut right = transpose(rows, c.len());
    right.iter_mut().zip(c).for_each(|(row, value)| row.push(-value));
    let half = transpose(&solve(g, &right)?, p + 1); // columns of G⁻¹[Bᵀ, -c]
    let mut tableau: Matrix = (0..p) // w - Mλ - z₀ = q
        .map(|i| {
            let mut line = vec![0.0; last + 1];
            line[i] = 1.0;
            (0..p).for_each(|j| line[p + j] = -dot(&rows[i], &half[j]));
            line[2 * p] = -1.0;
            line[last] = dot(&rows[i], &half[p]) - d[i];
            line
        })
        .collect();
    let mut row = (0..p).min_by(|&i, &j| tableau[i][last].total_cmp(&tableau[j][last])).unwrap_or(0);
    if p == 0 || tableau[row][last] >= 0.0 { return Ok(Vec::new()) }
    let (mut basis, mut entering): (Vec<usize>, usize) = ((0..p).collect(), 2 * p);
    for _ in 0..100 * (p + 1) {
        let pivot = tableau[row][entering];
        tableau[row].iter_mut().for_each(|value| *value /= pivot);
        for i in 0..p {
            if i != row { tableau[i] = add(&tableau[i], &tableau[row], -tableau[i][entering]) }
        }
        let leaving = std::mem::replace(&mut basis[row], entering);
        if leaving == 2 * p {
            return Ok(basis.into_iter().filter(|&j| (p..2 * p).contains(&j)).map(|j| j - p).collect());
        }
        entering = if leaving < p { leaving + p } else { leaving - p };
        let ratio = |line: &Vector| if line[entering] > 1e-11 { line[last].max(0.0) / line[entering] } else { f64::INFINITY };
        let ratios: Vector = tableau.iter().map(ratio).collect();
        row = (0..p).min_by(|&i, &j| ratios[i].total_cmp(&ratios[j])).unwrap_or(0);
        if ratios[row] == f64::INFINITY { return Err("no y satisfies the rows at this x".into()) }
        // Of equal ratios, z₀ leaves first.
        let tied = ratios[row] * (1.0 + 1e-12) + 1e-15;
        row = (0..p).find(|&i| basis[i] == 2 * p && ratios[i] <= tied).unwrap_or(row);
    }
    Err("the pivots cycle".into())
}

/// Line 3: (y*, λ*), the equations of the active rows solved and refined.
pub fn lower_level(q: &Problem, x: &[f64]) -> Result<(Vector, Vector), String> {
    let (d, m) = (add(&times(&q.a, x), &q.b, -1.0), q.g.y0.len());
    let c = q.g.grad_y(x, &vec![0.0; m]);
    let active = active_rows(&q.g.yy, &c, &q.b_rows, &d)?;
    let all = m + active.len();
    let (mut kkt, mut right) = (vec![vec![0.0; all]; all], vec![0.0; all]);
    for i in 0..m {
        right[i] = -c[i];
        kkt[i][..m].copy_from_slice(&q.g.yy[i]);
        for (k, &row) in active.iter().enumerate() {
            (kkt[i][m + k], kkt[m + k][i]) = (-q.b_rows[row][i], q.b_rows[row][i]);
        }
    }
    active.iter().enumerate().for_each(|(k, &row)| right[m + k] = d[row]);
    let mut found = vec![0.0; all];
    for _ in 0..3 {
        found = add(&found, &solve_vector(&kkt, &add(&right, &times(&kkt, &found), -1.0))?, 1.0);
    }
    let mut lam = vec![0.0; d.len()];
    active.iter().enumerate().for_each(|(k, &row)| lam[row] = found[m + k].max(0.0));
    found.truncate(m);
    Ok((found, lam))
}

/// The smooth activation ρ = σ_h(h) σ_λ(λ).
pub fn activation(h: &[f64], lam: &[f64], h_width: f64, lam_width: f64) -> Vector {
    let ramp = |value: f64| value.clamp(0.0, 1.0);
    h.iter().zip(lam).map(|(h, lam)| ramp((h_width + h) / h_width) * ramp(lam / lam_width)).collect()
}

/// The penalty Lagrangian at x in the shift w = y - ỹ*, in which α⁻² and α⁻⁴ lose no digits.
pub struct Lagrangian<'a> {
    pub q: &'a Problem,
    pub x: Vector,
    pub alpha: f64,
    pub y_star: Vector,
    pub lam: Vector,
    pub rho: Vector,
    /// Whether the multiplier stays out of the value term, so that α₁Aᵀλ̃ stays.
    pub frozen: bool,
}

impl Lagrangian<'_> {
    fn weighted_rows(&self, w: &[f64]) -> Vector {
        let h = add(&self.q.h(&self.x, &self.y_star), &times(&self.q.b_rows, w), -1.0);
        h.iter().zip(&self.rho).map(|(h, rho)| rho * h).collect()
    }
    fn grad_y(&self, w: &[f64]) -> Vector {
        let (y, bt) = (add(&self.y_star, w, 1.0), transpose(&self.q.b_rows, w.len()));
        let lower = add(&self.q.g.grad_y(&self.x, &y), &times(&bt, &self.lam), -1.0);
        let objectives = add(&self.q.f.grad_y(&self.x, &y), &lower, self.alpha.powi(-2));
        add(&objectives, &times(&bt, &self.weighted_rows(w)), -self.alpha.powi(-4))
    }
    fn hessian(&self) -> Matrix {
        let scaled = |(f, g): (&Vector, &Vector)| add(f, g, self.alpha.powi(-2));
        let mut made: Matrix = self.q.f.yy.iter().zip(&self.q.g.yy).map(scaled).collect();
        for (row, rho) in self.q.b_rows.iter().zip(&self.rho) {
            for i in 0..made.len() { made[i] = add(&made[i], row, self.alpha.powi(-4) * rho * row[i]) }
        }
        made
    }
    /// Line 5: the minimiser's shift, by Newton's method until rounding wins.
    pub fn minimiser(&self) -> Result<Vector, String> {
        let hessian = self.hessian();
        let mut w = vec![0.0; self.y_star.len()];
        let (mut best, mut slope, mut least) = (w.clone(), self.grad_y(&w), f64::INFINITY);
        while norm(&slope) < least {
            (best, least) = (w.clone(), norm(&slope));
            w = add(&w, &solve_vector(&hessian, &slope)?, -1.0);
            slope = self.grad_y(&w);
        }
        Ok(best)
    }
    /// Line 6 without noise.
    pub fn grad_x(&self, w: &[f64]) -> Vector {
        let at = transpose(&self.q.a, self.x.len());
        let mut change = times(&self.q.g.xy, w); // ∇_x g(x, y) - ∇_x g(x, ỹ*)
        if self.frozen { change = add(&change, &times(&at, &self.lam), 1.0) }
        let upper = self.q.f.grad_x(&self.x, &add(&self.y_star, w, 1.0));
        add(&add(&upper, &change, self.alpha.powi(-2)), &times(&at, &self.weighted_rows(w)), self.alpha.powi(-4))
    }
}

pub struct OuterRuns {
    pub x_bar: Vec<Matrix>,
    pub path: Vec<Matrix>,
}

/// Parameters D, η, M and K of Algorithm 2.
pub struct Outer {
    pub d: f64,
    pub eta: f64,
    pub m: usize,
    pub k: usize,
}

/// Algorithm 2 on R runs at once, the rows of x; s(t, r) is where on its segment run r is asked at step t.
pub fn outer_loop<E>(
    mut oracle: impl FnMut(&Matrix) -> Result<Matrix, E>,
    mut x: Matrix,
    outer: &Outer,
    s: impl Fn(usize, usize) -> f64,
) -> Result<OuterRuns, E> {
    let zeros: Matrix = x.iter().map(|row| vec![0.0; row.len()]).collect();
    let mut step = zeros.clone();
    let mut made = OuterRuns { x_bar: Vec::new(), path: vec![x.clone()] };
    for t in 0..outer.k * outer.m {
        let z: Matrix = (0..x.len()).map(|r| add(&x[r], &step[r], s(t, r))).collect();
        x = (0..x.len()).map(|r| add(&x[r], &step[r], 1.0)).collect();
        if t % outer.m == 0 { made.x_bar.push(zeros.clone()) }
        let gradient = oracle(&z)?;
        for r in 0..x.len() {
            step[r] = add(&step[r], &gradient[r], -outer.eta);
            let length = norm(&step[r]);
            if length > outer.d { step[r].iter_mut().for_each(|value| *value *= outer.d / length) }
            let mean = &mut made.x_bar[t / outer.m][r];
            *mean = add(mean, &z[r], 1.0 / outer.m as f64);
        }
        made.path.push(x.clone());
    }
    Ok(made)
}
