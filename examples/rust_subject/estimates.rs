//! Algorithm 1 on one call of the wire: its stages, and estimates under noise from given normals or from a seed.
use crate::f2csa::{activation, add, lower_level, norm, Lagrangian, Matrix, Problem, Vector};
use crate::json::{Json, Misfit};
use std::collections::HashMap;

pub struct Given {
    pub q: Problem,
    pub noise: String,
    /// On the gradients in x; 0 where there is none.
    pub sigma_f: f64,
    pub sigma_g: f64,
}

/// An answer that is an error of the wire.
pub struct Refusal(pub i32, pub String);

impl From<Misfit> for Refusal {
    fn from(_: Misfit) -> Refusal { Refusal(-32602, "params that do not fit".into()) }
}
impl From<String> for Refusal {
    fn from(message: String) -> Refusal { Refusal(-32000, message) }
}

/// Numbers that a seed below 2⁵³ stands for: SplitMix64 under Box and Muller.
pub struct Generator(pub u64);

impl Generator {
    fn word(&self, i: u64) -> u64 {
        let mut z = self.0.wrapping_add((i + 1).wrapping_mul(0x9E3779B97F4A7C15));
        z = (z ^ z >> 30).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D049BB133111EB);
        z ^ z >> 31
    }
    pub fn uniform(&self, i: u64) -> f64 {
        (self.word(i) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn normal(&self, k: u64) -> f64 {
        let (radius, angle) = ((-2.0 * (1.0 - self.uniform(k & !1)).ln()).sqrt(), std::f64::consts::TAU * self.uniform(k | 1));
        radius * if k & 1 == 1 { angle.sin() } else { angle.cos() }
    }
}

/// The normals of a call: its lists, what its seed stands for, or, without draws, numbers of the request's seed.
struct Normals {
    generator: Generator,
    start: HashMap<&'static str, u64>,
    lists: HashMap<&'static str, Matrix>,
}

impl Normals {
    fn of(draws: &Json, seed: &Json) -> Result<Normals, Misfit> {
        let seeded = draws.has("generator");
        let seed = if seeded { draws.get("seed") } else { seed };
        let generator = Generator(if *seed == Json::Null { 0 } else { seed.number()? as u64 });
        let (mut start, mut lists, mut next) = (HashMap::new(), HashMap::new(), 0);
        for block in ["f_x", "g_x", "g_x_star"] {
            start.insert(block, next);
            let shape = draws.get("shapes").get(block);
            if *draws == Json::Null { next += 1 << 40 }
            if *shape != Json::Null { next += shape.vector()?.iter().product::<f64>() as u64 }
            if !seeded && draws.has(block) { lists.insert(block, draws.get(block).matrix()?); }
        }
        Ok(Normals { generator, start, lists })
    }
    fn row(&self, block: &str, j: usize, width: usize) -> Vector {
        if let Some(rows) = self.lists.get(block) { return rows[j].clone() }
        let first = self.start[block] + (j * width) as u64;
        (0..width as u64).map(|i| self.generator.normal(first + i)).collect()
    }
}

/// Lines 2 to 5: what L holds constant and the minimiser's shift, taken from the call where it gives them.
pub fn stages_of<'a>(p: &'a Given, x: Vector, call: &Json) -> Result<(Lagrangian<'a>, Vector), Refusal> {
    let given = |name: &str| if call.has(name) { call.get(name).vector().map(Some) } else { Ok(None) };
    let (y_star, lam) = match (given("y_star")?, given("lam")?) {
        (Some(y_star), Some(lam)) => (y_star, lam),
        (y_star, lam) => {
            let found = lower_level(&p.q, &x)?;
            (y_star.unwrap_or(found.0), lam.unwrap_or(found.1))
        }
    };
    let rho = match given("rho")? {
        Some(rho) => rho,
        None => {
            let lam_width = call.get("parameters").get("lam_width").number()?;
            activation(&p.q.h(&x, &y_star), &lam, call.get("h_width").number()?, lam_width)
        }
    };
    let frozen = call.get("reading").get("dual_term").text()? == "frozen";
    let made = Lagrangian { q: &p.q, x, alpha: call.get("alpha").number()?, y_star, lam, rho, frozen };
    let w = match given("y_penalty")? {
        Some(y) => add(&y, &made.y_star, -1.0),
        None => made.minimiser()?,
    };
    Ok((made, w))
}

/// Noise of one sample, j, of ∇_x f(x, ỹ) + α₁(∇_x g(x, ỹ) - ∇_x g(x, ỹ*)).
fn noise_x(p: &Given, l: &Lagrangian, w: &[f64], common: bool, z: &Normals, j: usize) -> Vector {
    let (n, y, none) = (l.x.len(), add(&l.y_star, w, 1.0), vec![0.0; l.x.len()]);
    let length = |other: &[f64]| norm(&l.x).hypot(norm(other));
    let (matrix, jump) = (p.noise == "matrix", p.noise == "jump");
    let size = p.sigma_f * if matrix { length(&y) } else { 1.0 };
    let upper = if p.sigma_f > 0.0 { add(&none, &z.row("f_x", j, n), size) } else { none.clone() };
    if p.sigma_g == 0.0 || (common && p.noise == "additive") { return upper } // the same draw at both points cancels
    let width = if jump { 1 } else { n };
    let here = z.row("g_x", j, width);
    let there = if common { here.clone() } else { z.row("g_x_star", j, width) };
    let mut change = none.clone();
    if jump {
        let side = |v: f64, zeta: f64| f64::from(v > zeta) - normal_cdf(v);
        change[0] = side(y[0], here[0]) - side(l.y_star[0], there[0]);
    } else if matrix && common {
        change = add(&none, &here, norm(w)); // one matrix of normals at both points sees ỹ - ỹ* alone
    } else {
        let (at_y, at_star) = if matrix { (length(&y), length(&l.y_star)) } else { (1.0, 1.0) };
        change = add(&add(&none, &here, at_y), &there, -at_star);
    }
    add(&upper, &change, p.sigma_g / l.alpha.powi(2))
}

/// Φ by its series at 0, to rounding.
fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 9.0 { return f64::from(x > 0.0) }
    let (mut sum, mut term, mut k, mut before) = (x, x, 1.0, f64::NAN);
    while sum != before {
        (before, term) = (sum, term * x * x / (k + 2.0));
        (sum, k) = (sum + term, k + 2.0);
    }
    0.5 + sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// Line 6: averages of N_g samples each, a row a replication.
pub fn estimates(p: &Given, params: &Json, replications: usize) -> Result<Matrix, Refusal> {
    let call = params.get("call");
    let (l, w) = stages_of(p, params.get("x").vector()?, call)?;
    let mut made = vec![l.grad_x(&w); replications];
    if p.noise == "none" { return Ok(made) }
    let normals = Normals::of(call.get("draws"), params.get("seed"))?;
    let common = call.get("reading").get("noise_pairing").text()? == "common";
    let samples = call.get("parameters").get("N_g").size()?;
    for j in 0..replications * samples {
        made[j / samples] = add(&made[j / samples], &noise_x(p, &l, &w, common, &normals, j), 1.0 / samples as f64);
    }
    Ok(made)
}
