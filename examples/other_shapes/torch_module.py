"""A torch module with an optimiser of its own: y is its parameter, SGD makes it, autograd differentiates in x.

``Module`` is as people write it; ``Subject`` hands it the suite's stages and takes its answers.
Run ``f2csa conform --python examples.other_shapes.torch_module:Subject``.
"""

import torch

torch.set_default_dtype(torch.float64)
T = torch.as_tensor


class Module(torch.nn.Module):
    """The penalty Lagrangian at α with the lower level's pair and weights held; ``forward`` is its value."""

    def __init__(self, blocks, alpha, y_star, lam, rho):
        super().__init__()
        self.q, self.lam, self.rho, self.y_star = blocks, lam, rho, y_star
        self.alpha_1, self.alpha_2 = alpha**-2, alpha**-4
        self.y = torch.nn.Parameter(y_star.clone())

    def value(self, which, x, y):
        xx, xy, yy, x0, y0 = (self.q[f"{which}_{block}"] for block in ("xx", "xy", "yy", "x", "y"))
        return x @ xx @ x / 2 + x @ xy @ y + y @ yy @ y / 2 + x0 @ x + y0 @ y

    def h(self, x, y):
        return self.q["A"] @ x - self.q["B"] @ y - self.q["b"]

    def forward(self, x):
        h = self.h(x, self.y)
        gap = self.value("g", x, self.y) + self.lam @ h - self.value("g", x, self.y_star)
        return self.value("f", x, self.y) + self.alpha_1 * gap + self.alpha_2 / 2 * self.rho @ h**2

    def fit(self, x, steps):
        B = self.q["B"]
        steepest = self.q["f_yy"] + self.alpha_1 * self.q["g_yy"] + self.alpha_2 * B.T @ (self.rho[:, None] * B)
        optimiser = torch.optim.SGD([self.y], lr=1 / float(torch.linalg.matrix_norm(steepest, 2)))
        for _ in range(steps):
            optimiser.zero_grad()
            self(x).backward()
            optimiser.step()


class Subject:
    name, steps = "torch-module", 200

    def penalty_minimiser(self, problem, x, call, tol):  # noqa: ARG002  # its optimiser has a number of steps
        module = self._module(problem, call)
        module.fit(T(x), self.steps)
        return module.y.detach().numpy()

    def hypergradient(self, problem, x, call, rng):  # noqa: ARG002  # it draws no noise
        if problem.noise.model != "none" or any(v is None for v in (call.y_star, call.lam, call.rho)):
            raise NotImplementedError("it takes the stages before its own, and draws no noise")
        module, at = self._module(problem, call), T(x).clone().requires_grad_()
        if call.y_penalty is None:
            module.fit(T(x), self.steps)
        else:
            module.y.data = T(call.y_penalty)
        return torch.autograd.grad(module(at), at)[0].numpy()

    def _module(self, problem, call):
        blocks = {name: torch.tensor(block) for name, block in vars(problem.arrays).items()}
        return Module(blocks, call.alpha, *(T(value) for value in (call.y_star, call.lam, call.rho)))
