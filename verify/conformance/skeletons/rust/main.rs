//! The glue: what the suite asks, one JSON-RPC message a line on standard input, put to solver.rs.
mod json;
mod solver;

use json::{Json, Misfit};
use solver::{activation, gradient_x, lower_level, outer_loop, penalty_shift, Failure, Held, Objective, Outer, Problem, Vector};
use std::collections::HashMap;
use std::io::{BufRead, Write};

const STAGES: [&str; 5] = ["lower_level", "activation", "penalty_minimiser", "hypergradient", "optimise"];

struct Known {
    q: Problem,
    noisy: bool,
}

/// An answer that is an error of the wire.
struct Refusal(i32, String);

impl From<Misfit> for Refusal {
    fn from(_: Misfit) -> Refusal { Refusal(-32602, "params that do not fit".into()) }
}
impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        match failure {
            Failure::NotWritten(line) => Refusal(-32002, line),
            Failure::Failed(line) => Refusal(-32000, line),
        }
    }
}

fn send(message: &Json) {
    let (mut line, mut output) = (String::new(), std::io::stdout().lock());
    message.write(&mut line);
    line.push('\n');
    // Nobody reads any more: the next line to read will be missing as well.
    let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}

fn receive() -> Option<String> {
    let mut line = Vec::new();
    let length = std::io::stdin().lock().read_until(b'\n', &mut line).unwrap_or(0);
    (length > 0).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// The runner's oracle, asked while optimise is pending.
fn ask_oracle(z: &[f64]) -> Result<Vector, Failure> {
    let failed = |what: &str| Failure::Failed(what.to_string());
    send(&Json::object([("jsonrpc", "2.0".into()), ("id", "oracle".into()), ("method", "oracle".into()),
                        ("params", Json::object([("z", z.into())]))]));
    let reply = receive().and_then(|line| Json::read(&line)).ok_or(failed("the oracle left"))?;
    if reply.has("error") { return Err(failed(reply.get("error").get("message").text().unwrap_or("the oracle failed"))) }
    reply.get("result").get("gradient").vector().map_err(|_| failed("the oracle answered no vector"))
}

fn problem(params: &Json) -> Result<Known, Refusal> {
    if params.get("kind").text()? != "quadratic" { return Err(Refusal(-32001, "quadratic objectives only".into())) }
    let arrays = params.get("arrays");
    let objective = |o: &str| -> Result<Objective, Misfit> {
        let block = |name: &str| arrays.get(&format!("{o}_{name}"));
        let (xx, xy, yy) = (block("xx").matrix()?, block("xy").matrix()?, block("yy").matrix()?);
        Ok(Objective { xx, xy, yy, x0: block("x").vector()?, y0: block("y").vector()? })
    };
    let (a, b_rows, b) = (arrays.get("A").matrix()?, arrays.get("B").matrix()?, arrays.get("b").vector()?);
    let q = Problem { f: objective("f")?, g: objective("g")?, a, b_rows, b };
    Ok(Known { q, noisy: params.get("noise").get("model").text()? != "none" })
}

/// Lines 3 to 5; a stage value that the call gives is used as it is.
fn stages_of(q: &Problem, x: &[f64], call: &Json) -> Result<(Held, Vector), Refusal> {
    let given = |name: &str| if call.has(name) { call.get(name).vector().map(Some) } else { Ok(None) };
    let (y_star, lam) = match (given("y_star")?, given("lam")?) {
        (Some(y_star), Some(lam)) => (y_star, lam),
        (y_star, lam) => {
            let found = lower_level(q, x)?;
            (y_star.unwrap_or(found.0), lam.unwrap_or(found.1))
        }
    };
    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
    let rho = match given("rho")? {
        Some(rho) => rho,
        None => {
            let h: Vector = (0..q.b.len()).map(|i| dot(&q.a[i], x) - dot(&q.b_rows[i], &y_star) - q.b[i]).collect();
            activation(&h, &lam, call.get("h_width").number()?, call.get("parameters").get("lam_width").number()?)
        }
    };
    let held = Held { alpha: call.get("alpha").number()?, y_star, lam, rho };
    let shift = match given("y_penalty")? {
        Some(y) => y.iter().zip(&held.y_star).map(|(a, b)| a - b).collect(),
        None => penalty_shift(q, x, &held)?,
    };
    Ok((held, shift))
}

fn stage(method: &str, p: Option<&Known>, params: &Json) -> Result<Json, Refusal> {
    let vector = |name: &str| params.get(name).vector();
    let known = || p.ok_or(Refusal(-32602, "no such problem".into()));
    Ok(match method {
        "lower_level" => {
            let (y_star, lam) = lower_level(&known()?.q, &vector("x")?)?;
            Json::object([("y_star", Json::from(y_star.as_slice())), ("lam", Json::from(lam.as_slice()))])
        }
        "activation" => {
            let widths = (params.get("h_width").number()?, params.get("lam_width").number()?);
            let rho = activation(&vector("h")?, &vector("lam")?, widths.0, widths.1);
            Json::object([("rho", Json::from(rho.as_slice()))])
        }
        "penalty_minimiser" => {
            let (held, shift) = stages_of(&known()?.q, &vector("x")?, params.get("call"))?;
            let y: Vector = held.y_star.iter().zip(&shift).map(|(a, b)| a + b).collect();
            Json::object([("y", Json::from(y.as_slice()))])
        }
        "hypergradient" => {
            let (p, x) = (known()?, vector("x")?);
            if p.noisy { return Err(Refusal(-32001, "problems without noise only".into())) }
            let (held, shift) = stages_of(&p.q, &x, params.get("call"))?;
            Json::object([("hypergradient", Json::from(gradient_x(&p.q, &x, &held, &shift)?.as_slice()))])
        }
        "optimise" => {
            let given = params.get("parameters");
            if !params.has("s") { return Err(Refusal(-32001, "runs whose uniform numbers are given only".into())) }
            let outer = Outer {
                d: given.get("D").number()?,
                eta: given.get("eta").number()?,
                m: given.get("M").size()?,
                k: given.get("K").size()?,
            };
            let (x_bar, path) = outer_loop(ask_oracle, &vector("x0")?, &outer, &vector("s")?)?;
            let x_out = x_bar.get(params.get("block").size()?).ok_or(Misfit)?.clone();
            Json::object([("x_out", Json::from(x_out.as_slice())), ("x_bar", Json::rows(&x_bar)), ("path", Json::rows(&path))])
        }
        _ => return Err(Refusal(-32601, format!("no method {method}"))),
    })
}

fn result(problems: &mut HashMap<String, Known>, method: &str, params: &Json) -> Result<Json, Refusal> {
    match method {
        "initialize" => Ok(Json::object([
            ("protocol", "f2csa-wire/1".into()), ("name", "my-solver".into()), ("language", "Rust".into()),
            ("version", "1".into()), ("readings", Json::object([("dual_term", Json::Array(vec!["cancelled".into()]))])),
            ("capabilities", Json::Array(STAGES.iter().map(|&name| name.into()).collect())),
        ])),
        "problem" => {
            problems.insert(params.get("id").text()?.into(), problem(params)?);
            Ok(Json::object([]))
        }
        "echo" => Ok(Json::object([("values", params.get("values").clone())])),
        "shutdown" => Ok(Json::object([])),
        _ => stage(method, params.get("problem").text().ok().and_then(|id| problems.get(id)), params),
    }
}

fn response(id: Json, name: &str, content: Json) -> Json {
    Json::object([("jsonrpc", "2.0".into()), ("id", id), (name, content)])
}

fn failure(id: Json, Refusal(code, message): Refusal) -> Json {
    response(id, "error", Json::object([("code", f64::from(code).into()), ("message", message.as_str().into())]))
}

/// The response to a request; none is due to a notification.
fn answer(problems: &mut HashMap<String, Known>, request: &Json) -> Option<Json> {
    let Ok(method) = request.get("method").text() else {
        return Some(failure(Json::Null, Refusal(-32600, "not a request".into())));
    };
    let (id, params) = (request.get("id").clone(), request.get("params"));
    if method == "forget" {
        params.get("id").text().ok().and_then(|name| problems.remove(name));
        return None;
    }
    Some(match result(problems, method, params) {
        Ok(content) => response(id, "result", content),
        Err(refusal) => failure(id, refusal),
    })
}

fn main() {
    let mut problems = HashMap::new();
    while let Some(line) = receive() {
        match Json::read(&line) {
            None => send(&failure(Json::Null, Refusal(-32700, "not JSON".into()))),
            Some(Json::Array(requests)) if !requests.is_empty() => {
                let answers: Vec<Json> = requests.iter().filter_map(|each| answer(&mut problems, each)).collect();
                if !answers.is_empty() { send(&Json::Array(answers)) }
            }
            Some(message) => {
                if let Some(made) = answer(&mut problems, &message) { send(&made) }
                if message.get("method") == &Json::from("shutdown") { break }
            }
        }
    }
}
