//! Your F2CSA in Rust: write the four functions that return NotWritten; F2CSA.md has the commands.
pub type Vector = Vec<f64>;
pub type Matrix = Vec<Vector>;

/// Why a stage has no answer: still to write (a fault, never a pass), or failed.
pub enum Failure {
    NotWritten(String),
    Failed(String),
}

fn not_written<T>(place: u8, stage: &str, what: &str) -> Result<T, Failure> {
    Err(Failure::NotWritten(format!("{stage} is not written yet, stage {place} of 5: {what}")))
}

/// ½xᵀ(xx)x + xᵀ(xy)y + ½yᵀ(yy)y + x0ᵀx + y0ᵀy
#[allow(dead_code)]
pub struct Objective {
    pub xx: Matrix,
    pub xy: Matrix,
    pub yy: Matrix,
    pub x0: Vector,
    pub y0: Vector,
}

/// Upper level f, lower level g, rows h(x, y) = a x - b_rows y - b <= 0.
#[allow(dead_code)]
pub struct Problem {
    pub f: Objective,
    pub g: Objective,
    pub a: Matrix,
    pub b_rows: Matrix,
    pub b: Vector,
}

/// What the penalty Lagrangian holds constant.
#[allow(dead_code)]
pub struct Held {
    pub alpha: f64,
    pub y_star: Vector,
    pub lam: Vector,
    pub rho: Vector,
}

/// Algorithm 2's parameters.
#[allow(dead_code)]
pub struct Outer {
    pub d: f64,
    pub eta: f64,
    pub m: usize,
    pub k: usize,
}

/// Line 3: y* and λ* of min_y g(x, y) subject to Ax - By - b <= 0.
pub fn lower_level(_q: &Problem, _x: &[f64]) -> Result<(Vector, Vector), Failure> {
    not_written(1, "lower_level", "y* and its multipliers, of min g(x, y) with Ax - By - b <= 0")
}

/// Line 4: ρ = σ_h(h) σ_λ(λ). Written: stage 2 of 5.
pub fn activation(h: &[f64], lam: &[f64], h_width: f64, lam_width: f64) -> Vector {
    let ramps = |(h, lam): (&f64, &f64)| ((h + h_width) / h_width).clamp(0.0, 1.0) * (lam / lam_width).clamp(0.0, 1.0);
    h.iter().zip(lam).map(ramps).collect()
}

/// Line 5: the minimiser ỹ of the penalty Lagrangian in y, as its shift ỹ - ỹ*, which keeps its digits.
pub fn penalty_shift(_q: &Problem, _x: &[f64], _held: &Held) -> Result<Vector, Failure> {
    not_written(3, "penalty_minimiser", "the y that is least for f + (g + λᵀh)/α² + Σ ρh²/(2α⁴)")
}

/// Line 6: ∇_x f(x, ỹ) + (∇_x g(x, ỹ) - ∇_x g(x, ỹ*))/α² + Aᵀ(ρ∘h(x, ỹ))/α⁴ at ỹ = ỹ* + shift.
pub fn gradient_x(_q: &Problem, _x: &[f64], _held: &Held, _shift: &[f64]) -> Result<Vector, Failure> {
    not_written(4, "hypergradient", "line 6, the penalty Lagrangian's gradient in x")
}

/// Algorithm 2: the means of its K blocks of M steps, and its T + 1 iterates; s has T numbers.
pub fn outer_loop(
    _oracle: impl Fn(&[f64]) -> Result<Vector, Failure>, _x0: &[f64], _outer: &Outer, _s: &[f64],
) -> Result<(Matrix, Matrix), Failure> {
    not_written(5, "optimise", "z = x + sΔ, x + Δ, Δ - η oracle(z) clipped to D, K blocks of M steps")
}
